"""What the package says on its loggers, all below ``share_state``; silent until the application adds a handler.

* ``share_state.store``: a store was opened; a warning for every unfinished batch that was cut off its log, for every damage
  that was cut off because a repair was asked for, and for a note of the log's end that could not be read.
* ``share_state.persister``: a share partition was loaded; a warning for every write that was refused.
* ``share_state.kafka``: a warning for every call to a cluster that is tried again.
* ``share_state.coordinator``: a warning for every client of :class:`share_state.kafka.ShareCoordinatorServer` that sent no
  request of Kafka's.
* ``share_state.logins``: every token that was not taken, and why; the client is not told.
* ``share_state.gateway``: share partitions that were not loaded, members that were silent for too long, what became of
  topics, and every log that takes no writes.
* ``share_state.gateway.clients``: a warning for every connection that was closed for what the client did.
* ``share_state.gateway.access``: what a principal was not allowed, once.
* ``share_state.gateway.upstream``: lost brokers, errors of partitions, logs that were cut.
* ``share_state.gateway.relay``, ``share_state.gateway.monitoring``: what could not be passed on, or shown.

Where the gateway's lines name something, they do it as ``key=value``: ``group``, ``member``, ``topic``, ``topic_id``,
``partition``, ``code``, and of a client ``client`` (its client id), ``host``, ``principal`` and ``software``.

Ids come from other people: they are logged by ``%r``, so that none can break out of its line.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TypedDict, cast

__all__ = ["PERSISTER", "STORE", "Recovery", "named", "store_opened", "write_refused"]

logging.getLogger("share_state").addHandler(logging.NullHandler())

STORE = logging.getLogger("share_state.store")
PERSISTER = logging.getLogger("share_state.persister")


class Recovery(TypedDict):
    """What opening a store found, as :meth:`share_state.StateStore.recovery` gives it."""

    records: int
    batches: int
    unknown_types: int
    control_batches: int
    torn: Sequence[str]
    repaired: Sequence[str]
    note_damaged: bool


def named(**names: object) -> str:
    """Name what a line is about, as ``key=value``; text in quotes, whatever is in it."""
    return " ".join(f"{key}={value!r}" for key, value in names.items())


def store_opened(path: PathLike[str], recovery: Mapping[str, object]) -> None:
    """Say what opening a store found. The extension calls it, whichever way the store was opened."""
    found = cast("Recovery", recovery)
    STORE.info("opened %r: %d records in %d batches", str(path), found["records"], found["batches"])
    for torn in found["torn"]:
        STORE.warning("opened %r: cut off an unfinished batch: %r", str(path), torn)
    for repaired in found["repaired"]:
        STORE.warning("opened %r: repaired: %r", str(path), repaired)
    if found["note_damaged"]:
        STORE.warning("opened %r: the note of where its logs end is damaged: batches may be missing there", str(path))


def write_refused(key: tuple[str, str, int], code: int, why: str | None = None) -> None:
    """Say that a persister refused a write. The extension calls it for those that share partitions make by themselves."""
    if why is None:
        PERSISTER.warning("a write of %r was refused with code %d", key, code)
    else:
        PERSISTER.warning("a write of %r was refused with code %d: %r", key, code, why)
