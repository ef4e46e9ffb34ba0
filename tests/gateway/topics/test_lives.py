"""Topics without ids: `Lives`, over a stand-in for the cluster, tells if one is another than before."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.gateway.upstream import lives as module
from share_state.gateway.upstream.lives import Lives
from share_state.gateway.upstream.topics import Partition, Topic
from share_state.kafka.client.offsets import Found
from share_state.kafka.client.peers import Address

BROKERS = [Address("127.0.0.1", port) for port in (1, 2)]
KNOWN = (Partition(1, 5), Partition(1, 5))
OLDER = (Partition(1, 4), Partition(1, 5))


def topic(partitions: tuple[Partition, ...] = KNOWN, topic_id: str = "an id") -> Topic:
    return Topic("t", topic_id, is_internal=False, partitions=partitions)


class Cluster:
    """A cluster without topic ids: what Metadata says, and where its logs end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, brokers: int = 2) -> None:
        self.now: Topic | None = topic()
        self.ends = [Found(0, 10), Found(0, 10)]
        self.is_made_up = True
        self.asked: list[list[str]] = []
        self.renewed: list[str] = []
        upstream = SimpleNamespace(
            nodes=lambda: BROKERS[:brokers],
            topics=self._topics,
            known_by_name=lambda _name: self.now,
            begin_anew=self._begin_anew,
        )
        registry = SimpleNamespace(is_made_up=lambda _name: self.is_made_up, epochs_of=lambda _name: (5, 5))
        self.lives = Lives(cast("Any", upstream), cast("Any", registry))
        monkeypatch.setattr(module, "list_offsets", self._list_offsets)

    async def _topics(self, names: list[str]) -> None:
        self.asked.append(names)

    async def _begin_anew(self, name: str) -> None:
        self.renewed.append(name)

    async def _list_offsets(self, _upstream: object, asked: Any, *, in_epoch: bool) -> dict[tuple[str, int], Found]:
        assert in_epoch
        return {(one.topic_id, number): self.ends[number] for one, number, _ in asked}

    def judged(self, told: tuple[Partition, ...]) -> tuple[bool, tuple[Partition, ...]]:
        return asyncio.run(self.lives.judged(topic(), told))

    def vanishes(self, *witnesses: int) -> None:
        for number in witnesses:
            self.lives.missed("t", BROKERS[number])
        self.lives.knows("t")


def test_a_log_that_shrank_is_of_another_topic_only_where_metadata_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def shrank(now: Topic | None, *, is_made_up: bool = True) -> tuple[bool, list[list[str]], list[str]]:
        cluster = Cluster(monkeypatch)
        cluster.now, cluster.is_made_up = now, is_made_up
        return asyncio.run(cluster.lives.shrank(topic())), cluster.asked, cluster.renewed

    # An id upstream tells by itself, and nobody is asked.
    assert shrank(None, is_made_up=False) == (False, [], [])
    assert shrank(topic()) == (False, [["t"]], [])
    assert shrank(None) == (True, [["t"]], [])
    assert shrank(topic(topic_id="another id")) == (True, [["t"]], [])
    assert shrank(topic(OLDER)) == (True, [["t"]], ["t"])
    # A broker that tells no epoch says nothing.
    assert shrank(topic((Partition(1, -1), Partition(1, -1)))) == (False, [["t"]], [])


def test_one_sign_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Cluster(monkeypatch).judged(KNOWN) == (False, KNOWN)
    # Nobody has read of it, and its logs are empty: a lower epoch alone may be a broker that lags.
    cluster = Cluster(monkeypatch)
    cluster.ends = [Found(0, 0)] * 2
    assert cluster.judged(OLDER) == (False, OLDER)
    cluster = Cluster(monkeypatch)
    cluster.ends[0] = Found(74, -1)
    assert cluster.judged(OLDER) == (False, KNOWN)
    cluster = Cluster(monkeypatch)
    cluster.lives.end_of = lambda _id, partition: (10, 11)[partition]
    assert cluster.judged(KNOWN) == (False, KNOWN)
    cluster.vanishes(0, 1)
    assert cluster.judged(KNOWN) == (True, KNOWN)


@pytest.mark.parametrize(("longest", "is_another"), [(9, False), (10, False), (11, True)])
def test_a_lower_epoch_and_a_shorter_log_are_two_signs(monkeypatch: pytest.MonkeyPatch, longest: int, is_another: bool) -> None:
    cluster = Cluster(monkeypatch)
    cluster.lives.end_of = lambda _id, partition: longest if partition else -1
    assert cluster.judged(OLDER) == (is_another, OLDER)


@pytest.mark.parametrize(
    ("witnesses", "brokers", "is_back"),
    [((), 2, False), ((0,), 2, False), ((0, 0), 2, False), ((0, 1), 2, True), ((0,), 1, False), ((0, 0), 1, True)],
)
def test_a_topic_has_vanished_once_two_brokers_do_not_know_it(
    monkeypatch: pytest.MonkeyPatch, witnesses: tuple[int, ...], brokers: int, is_back: bool
) -> None:
    cluster = Cluster(monkeypatch, brokers=brokers)
    cluster.vanishes(*witnesses)
    assert cluster.judged(OLDER) == (is_back, OLDER)
    # The logs have been looked at since, and its witnesses do not count twice.
    cluster.vanishes()
    assert cluster.judged(OLDER) == (False, OLDER)


def test_a_topic_that_came_back_is_looked_at_until_a_leader_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch)
    cluster.vanishes(0, 1)
    answers, cluster.ends = cluster.ends, [Found(74, -1)] * 2
    assert cluster.judged(OLDER) == (False, KNOWN)
    cluster.ends = answers
    assert cluster.judged(OLDER) == (True, OLDER)
