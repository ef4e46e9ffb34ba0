"""The loggers of the package, all below ``share_state``. They are silent until the application adds a handler.

* ``share_state.store``: opened stores. It warns of every unfinished batch that was cut off a log, of all damage that a
  requested repair has cut off, and of an unreadable note of the log's end.
* ``share_state.persister``: loaded share partitions. It warns of every refused write.
* ``share_state.kafka``: warns of every call to a cluster that is retried.
* ``share_state.coordinator``: warns of every client of :class:`share_state.kafka.ShareCoordinatorServer` that sends something
  other than a Kafka request.
* ``share_state.logins``: every refused token, with the reason; the client does not get the reason.
* ``share_state.gateway``: share partitions that could not be loaded, members whose heartbeats stopped, changes of
  topics, and logs that cannot be written.
* ``share_state.gateway.clients``: warns of every connection that was closed because of its client.
* ``share_state.gateway.access``: operations that a principal was denied, each once.
* ``share_state.gateway.upstream``: lost brokers, errors of partitions, truncated logs.
* ``share_state.gateway.relay``: requests that could not be forwarded.
* ``share_state.monitoring``: requests for metrics that could not be answered, and collectors that do not take them.
* ``share_state.live``: what of a cluster cannot be seen, and when it can be seen again.
* ``share_state.web``: logins to the pages that were refused, and pages that could not be read.

The gateway names things as ``key=value``: ``group``, ``member``, ``topic``, ``topic_id``, ``partition``, ``code``, and for a
client ``client`` (its client id), ``host``, ``principal`` and ``software``.

A logger whose lines others cause, by connections or requests, says the same at most 20 times in ten seconds; the line that is
logged next tells how many were left out.

Ids come from outside. They are logged with ``%r``, so they cannot break out of their line.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Final, TypedDict, cast

__all__ = ["PACE", "PERSISTER", "STORE", "Recovery", "named", "store_opened", "write_refused"]

logging.getLogger("share_state").addHandler(logging.NullHandler())

STORE = logging.getLogger("share_state.store")
PERSISTER = logging.getLogger("share_state.persister")


#: Lines of one kind that a paced logger lets through, and seconds until it lets through as many again.
_AT_ONCE: Final = 20
_PACE: Final = 10.0
#: Kinds that are remembered: a text may have been put together before it is logged.
_MAX_KINDS: Final = 1000


class Pace(logging.Filter):
    """Lets through some lines of each kind, told by its text before the arguments are put in."""

    def __init__(self) -> None:
        super().__init__()
        #: By logger, level and text: when the first line of a round came, how many have come since.
        self._rounds: dict[tuple[str, int, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """See :class:`logging.Filter`."""
        if record.levelno < logging.INFO:
            return True
        kind = record.name, record.levelno, str(record.msg)
        began, count = self._rounds.get(kind, (record.created, 0))
        if not 0 <= record.created - began < _PACE:
            if count > _AT_ONCE:
                record.msg = f"{record.msg} (and {count - _AT_ONCE} more like it before)"
            began, count = record.created, 0
        if len(self._rounds) >= _MAX_KINDS:
            self._rounds.clear()
        self._rounds[kind] = began, count + 1
        return count < _AT_ONCE

    def forget(self) -> None:
        """Begin again, with nothing said."""
        self._rounds.clear()


#: The pace of every logger whose lines others cause.
PACE: Final = Pace()
for _name in ("gateway", "gateway.clients", "gateway.access", "gateway.relay", "coordinator", "logins", "monitoring", "web"):
    logging.getLogger(f"share_state.{_name}").addFilter(PACE)


class Recovery(TypedDict):
    """The findings of opening a store, as :meth:`share_state.StateStore.recovery` returns them."""

    records: int
    batches: int
    unknown_types: int
    control_batches: int
    torn: Sequence[str]
    repaired: Sequence[str]
    note_damaged: bool


def named(**names: object) -> str:
    """Format facts for a log line as ``key=value``, with text in quotes."""
    return " ".join(f"{key}={value!r}" for key, value in names.items())


def store_opened(path: PathLike[str], recovery: Mapping[str, object]) -> None:
    """Log the findings of opening a store. The extension calls this for every store."""
    found = cast("Recovery", recovery)
    STORE.info("opened %r: %d records in %d batches", str(path), found["records"], found["batches"])
    for torn in found["torn"]:
        STORE.warning("opened %r: cut off an unfinished batch: %r", str(path), torn)
    for repaired in found["repaired"]:
        STORE.warning("opened %r: repaired: %r", str(path), repaired)
    if found["note_damaged"]:
        STORE.warning("opened %r: the note of where its logs end is damaged: batches may be missing there", str(path))


def write_refused(key: tuple[str, str, int], code: int, why: str | None = None) -> None:
    """Log a refused write. The extension calls this for the writes of inline persisters."""
    if why is None:
        PERSISTER.warning("a write of %r was refused with code %d", key, code)
    else:
        PERSISTER.warning("a write of %r was refused with code %d: %r", key, code, why)
