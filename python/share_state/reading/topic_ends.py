"""The log end offsets of the topics of a running cluster, now and earlier, from which the lag of a share group follows.

The state topic names topics by id and does not hold their ends. The cluster is asked for both, which needs DESCRIBE on
the topics. A topic that is deleted, or that may not be described, has no end here.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from uuid import UUID

from share_state.reading.asking import Connecting, in_thread, topics
from share_state.reading.cluster import SCHEME
from share_state.reading.failures import TIMED_OUT, ClusterReadError, NoAnswerError
from share_state.reading.state_topic import client_module

__all__ = ["Place", "end_offsets", "topic_names"]

#: A partition of a topic: a hyphenated UUID, and a number.
Place = tuple[str, int]

#: Topics described at once.
_AT_ONCE = 500
#: Default number of seconds to wait for an answer.
_PATIENCE = 10.0
#: What `ListOffsets` answers where no record is as late as was asked for.
_NO_RECORD = -1
_MASK = 2**64 - 1


def end_offsets(
    source: str,
    settings: Mapping[str, object] | None,
    places: Iterable[Place],
    *,
    times: Sequence[int] = (),
    timeout: float | None = None,
) -> dict[Place, list[tuple[int, int]]]:
    """Ask for the log end offsets of partitions: now, and before at `times` in ms since the epoch, by the times of their records.

    Returns pairs of a time and an offset, ascending. A partition that the cluster does not report is left out.

    Raises:
        ClientMissingError: confluent-kafka is not there.
        ClusterReadError: the cluster does not answer.
    """
    wanted = set(places)
    if not wanted:
        return {}
    asking = _Asking(source, settings or {}, _PATIENCE if timeout is None else timeout)
    with _failing_as_ours(asking, "end offsets"):
        return asking.measured(wanted, sorted(times))


def topic_names(
    source: str, settings: Mapping[str, object] | None, topic_ids: Iterable[str], *, timeout: float | None = None
) -> dict[str, str]:
    """Ask for the names of topics by their ids; one that is deleted, or that may not be described, is left out.

    Raises:
        ClientMissingError: confluent-kafka is not there.
        ClusterReadError: the cluster does not answer.
    """
    wanted = set(topic_ids)
    if not wanted:
        return {}
    asking = _Asking(source, settings or {}, _PATIENCE if timeout is None else timeout)
    with _failing_as_ours(asking, "names of topics"):
        return asking.names(wanted)


class _Asking:
    """An administrator's client, which asks and changes nothing."""

    def __init__(self, source: str, settings: Mapping[str, object], patience: float) -> None:
        self.client = client_module()
        self.admin: Any = _admin(self.client)
        self.connecting = Connecting()
        self.patience = patience
        servers = source.removeprefix(SCHEME)
        ours = {"bootstrap.servers": servers, "error_cb": self.connecting, "log_level": 0}
        self.asked = self.admin.AdminClient({**settings, **ours})

    def measured(self, wanted: set[Place], times: Sequence[int]) -> dict[Place, list[tuple[int, int]]]:
        """Measure at all times and now. The end now stands for the end at times that no record is later than."""
        names = self.names({topic_id for topic_id, _ in wanted})
        places = {
            self.client.TopicPartition(names[topic_id], number): (topic_id, number)
            for topic_id, number in sorted(wanted)
            if topic_id in names
        }
        if not places:
            return {}
        now = time.time_ns() // 1_000_000
        latest = self._ends(places, self.admin.OffsetSpec.latest())
        told: dict[Place, list[tuple[int, int]]] = {place: [] for place in latest}
        for ms in times:
            # The first record that is later than the time: it is the end of those that are not.
            then = self._ends(places, self.admin.OffsetSpec.for_timestamp(ms + 1))
            for place, end in then.items():
                if place in told:
                    told[place].append((ms, latest[place] if end == _NO_RECORD else end))
        for place, end in latest.items():
            told[place].append((now, end))
        return told

    def names(self, ids: set[str]) -> dict[str, str]:
        """Find the names of topics by their ids."""
        there = topics(self.client, self.asked, self.connecting, self.patience)
        names = sorted(name for name, topic in there.items() if topic.error is None)
        found: dict[str, str] = {}
        for first in range(0, len(names), _AT_ONCE):
            some = self.client.TopicCollection(names[first : first + _AT_ONCE])
            for name, future in self.asked.describe_topics(some, request_timeout=self.patience).items():
                described = self._answer(future)
                if described is not None and (topic_id := _hyphenated(described.topic_id)) in ids:
                    found[topic_id] = name
            if found.keys() == ids:
                break
        return found

    def _ends(self, places: Mapping[Any, Place], spec: object) -> dict[Place, int]:
        answers = self.asked.list_offsets(dict.fromkeys(places, spec), request_timeout=self.patience)
        ends = {places[place]: self._answer(future) for place, future in answers.items()}
        return {place: answer.offset for place, answer in ends.items() if answer is not None}

    def _answer(self, future: Future[Any]) -> Any | None:  # noqa: ANN401  what the client gives
        """Wait for an answer; None where this topic or partition has none."""
        try:
            return in_thread(future.result)
        except self.client.KafkaException as error:
            if error.args[0].code() < 0:
                # Of the client itself: no answer came.
                raise
            return None


@contextmanager
def _failing_as_ours(asking: _Asking, asked: str) -> Iterator[None]:
    """Turn the client's errors within the block, which asks for something, into ours."""
    try:
        yield
    except asking.client.KafkaException as error:
        if error.args[0].code() == TIMED_OUT and asking.connecting.last is None:
            raise NoAnswerError(asking.patience, f" for {asked}") from None
        reason = error.args[0].str() if asking.connecting.last is None else f"{error.args[0].str()}: {asking.connecting.last}"
        raise ClusterReadError(f"{asked}: {reason}") from None


def _hyphenated(topic_id: Any) -> str:  # noqa: ANN401  a Uuid of the client, which its types do not name
    most, least = topic_id.get_most_significant_bits(), topic_id.get_least_significant_bits()
    return str(UUID(int=(most & _MASK) << 64 | least & _MASK))


def _admin(client: ModuleType) -> ModuleType:
    return getattr(client, "admin", None) or importlib.import_module("confluent_kafka.admin")
