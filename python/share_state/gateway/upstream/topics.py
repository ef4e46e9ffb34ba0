"""Which topic is it: names and ids, kept over restarts.

An upstream with topic ids tells when a topic was deleted and created again: its id is another one. One without them gets
ids from here, random and never made of the name, because the state of a group belongs to one life of a topic: a start offset
of 1,000,000 in an empty log would hide every record.
"""

from __future__ import annotations

import asyncio
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from share_state.gateway.files import Content, read_json, text, whole, write_json
from share_state.kafka.client.metadata import ZERO_ID

__all__ = ["Partition", "Topic", "TopicRegistry", "newest", "partitions_of"]

_FILE: Final = "topics.json"
#: Fields that the row of a topic may have.
_FIELDS: Final = frozenset({"id", "real", "partitions", "epochs"})
_ID_BYTES: Final = 16
_INT32: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition upstream.

    Attributes:
        leader: id of the broker that leads it, -1 for none.
        leader_epoch: epoch of that leader, -1 when upstream does not tell.
    """

    leader: int
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic upstream.

    Attributes:
        name: its name.
        topic_id: its id, in base64; never zero.
        is_internal: whether upstream keeps it for itself.
        partitions: its partitions, by index.
    """

    name: str
    topic_id: str
    is_internal: bool
    partitions: tuple[Partition, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    topic_id: str
    real: bool
    partitions: int
    #: The highest leader epoch that was seen of each partition; only of a topic whose id is made up.
    epochs: tuple[int, ...] = ()


class TopicRegistry:
    """Topics that clients were told of: name, id, number of partitions."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / _FILE
        found = read_json(self._path, _check) or {"topics": {}}
        self._known = {
            name: _Known(row["id"], row["real"], row["partitions"], tuple(row.get("epochs", ())))
            for name, row in found["topics"].items()
        }
        self._names = {known.topic_id: name for name, known in self._known.items()}
        self._dirty = False
        #: One file, so one writer at a time; who comes later waits, and finds its change written too.
        self._saving = asyncio.Lock()

    @property
    def has_made_up_ids(self) -> bool:
        """Whether some topic has an id that upstream does not know."""
        return any(not known.real for known in self._known.values())

    def is_made_up(self, name: str) -> bool:
        """Whether the id of a topic is from here."""
        known = self._known.get(name)
        return known is not None and not known.real

    def epochs_of(self, name: str) -> tuple[int, ...]:
        """Return the highest leader epochs that were seen of the partitions of a topic without an id."""
        known = self._known.get(name)
        return () if known is None else known.epochs

    def saw_epochs(self, name: str, partitions: Iterable[Partition]) -> None:
        """Note leader epochs of a topic without an id."""
        known = self._known.get(name)
        if known is None or known.real:
            return
        told = [partition.leader_epoch for partition in partitions]
        before = known.epochs + (-1,) * (len(told) - len(known.epochs))
        epochs = tuple(max(old, new) for old, new in zip(before, told, strict=False))
        if epochs != known.epochs:
            self._known[name] = replace(known, epochs=epochs)
            self._dirty = True

    def name_of(self, topic_id: str) -> str | None:
        """Return the name of a topic by its id."""
        return self._names.get(topic_id)

    def id_of(self, name: str) -> str | None:
        """Return the id of a topic by its name."""
        known = self._known.get(name)
        return None if known is None else known.topic_id

    def view(self) -> list[tuple[str, str, int]]:
        """Return every topic: name, id, number of partitions."""
        return [(name, known.topic_id, known.partitions) for name, known in self._known.items()]

    def see(self, name: str, topic_id: str, partitions: int) -> tuple[str, str | None]:
        """Take what upstream says of a topic.

        Args:
            name: of the topic.
            topic_id: its id upstream; zero where upstream has none.
            partitions: how many it has.

        Returns:
            Its id, and the id that it had in an earlier life, if it was deleted and created again.
        """
        known = self._known.get(name)
        real = topic_id != ZERO_ID
        if known is not None and not real:
            # A log that lost partitions is another one: a topic never shrinks.
            topic_id = known.topic_id if partitions >= known.partitions else _random_id()
        elif not real:
            topic_id = _random_id()
        if known is None or known.topic_id != topic_id or known.partitions != partitions:
            self._dirty = True
            epochs = known.epochs if known is not None and known.topic_id == topic_id else ()
            self._known[name] = _Known(topic_id, real, partitions, epochs)
            self._names[topic_id] = name
        if known is None or known.topic_id == topic_id:
            return topic_id, None
        self._forget_id(known.topic_id, name)
        return topic_id, known.topic_id

    def renew(self, name: str) -> str | None:
        """Return a topic a new id, because it is another topic than before; returns the id that it had."""
        known = self._known.pop(name, None)
        if known is None:
            return None
        self._forget_id(known.topic_id, name)
        self._dirty = True
        return known.topic_id

    def _forget_id(self, topic_id: str, name: str) -> None:
        # Upstream may have given the id to another name.
        if self._names.get(topic_id) == name:
            del self._names[topic_id]

    async def save(self) -> None:
        """Write what has changed, durably.

        Raises:
            StoreError: it cannot be written; the next call tries again.
        """
        async with self._saving:
            if not self._dirty:
                return
            topics = {
                name: {"id": known.topic_id, "real": known.real, "partitions": known.partitions, "epochs": known.epochs}
                for name, known in self._known.items()
            }
            self._dirty = False
            try:
                await asyncio.to_thread(write_json, self._path, {"topics": topics})
            except BaseException:
                self._dirty = True
                raise


def partitions_of(answered: Iterable[dict[str, Any]]) -> tuple[Partition, ...]:
    """Return the partitions of a topic in an answer to Metadata, by index; a missing one has no leader."""
    found = {row["partitionIndex"]: Partition(row["leaderId"], row.get("leaderEpoch", -1)) for row in answered}
    return tuple(found.get(index, Partition(-1, -1)) for index in range(len(found)))


def newest(known: tuple[Partition, ...], told: tuple[Partition, ...]) -> tuple[Partition, ...]:
    """Return each partition as it is in the newer of its two leader epochs: a broker may be behind another one."""
    newer = tuple(old if 0 <= new.leader_epoch < old.leader_epoch else new for old, new in zip(known, told, strict=False))
    return newer + told[len(newer) :]


def _check(content: Content, _is_checked: bool) -> None:
    topics = content.pop("topics", None)
    if content or not isinstance(topics, dict):
        message = "expected topics by name"
        raise ValueError(message)
    content["topics"] = topics
    for name, row in topics.items():
        text("a topic's name", name)
        if not isinstance(row, dict) or not _FIELDS - {"epochs"} <= row.keys() <= _FIELDS or not isinstance(row["real"], bool):
            message = f"topic {name!r} has not the fields of a topic"
            raise ValueError(message)
        if not _is_id(row["id"]):
            message = f"the id of topic {name!r} is {row['id']!r}; expected a UUID in base64, not zero"
            raise ValueError(message)
        whole(f"partitions of topic {name!r}", row["partitions"], 0, _INT32)
        epochs = row.get("epochs", [])
        if not isinstance(epochs, list) or len(epochs) > row["partitions"]:
            message = f"epochs of topic {name!r} is {epochs!r}; expected one for each partition"
            raise ValueError(message)
        for epoch in epochs:
            whole(f"an epoch of topic {name!r}", epoch, -1, _INT32)


def _is_id(topic_id: object) -> bool:
    try:
        return isinstance(topic_id, str) and _in_base64(urlsafe_b64decode(topic_id + "==")) == topic_id != ZERO_ID
    except ValueError:
        return False


def _in_base64(topic_id: bytes) -> str:
    return urlsafe_b64encode(topic_id).decode().rstrip("=") if len(topic_id) == _ID_BYTES else ""


def _random_id() -> str:
    return _in_base64(uuid.uuid4().bytes)
