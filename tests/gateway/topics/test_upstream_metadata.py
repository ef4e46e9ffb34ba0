"""Metadata of topics: what the gateway asks by name and by id, and what it makes of the answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from share_state.gateway.upstream.topics import Partition, Topic
from share_state.kafka.client.apis import API_VERSIONS
from share_state.kafka.client.peers import Address, LostError, Node
from share_state.kafka.errors import BrokerUnreachableError
from tests.gateway.topics.metadata_brokers import NONE, ONE, THREE, TWO, Brokers, run, topic

SHOWN = {ONE: "00000000-0000-0000-0000-000000000001", TWO: "00000000-0000-0000-0000-000000000002"}
NO_ID = "00000000-0000-0000-0000-000000000000"
T = topic("t", ONE, (11, 5), (12, 5))
U = topic("u", TWO, (12, 0), internal=True)
KNOWN_T = Topic("t", ONE, is_internal=False, partitions=(Partition(11, 5), Partition(12, 5)))
KNOWN_U = Topic("u", TWO, is_internal=True, partitions=(Partition(12, 0),))


@pytest.mark.parametrize("version", [8, 9, 10, 11, 13])
def test_topics_are_asked_for_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: int) -> None:
    cluster = {"includeClusterAuthorizedOperations": False} if version < 11 else {}
    topic_id = {"topicId": NO_ID} if version >= 10 else {}
    rest = {"allowAutoTopicCreation": False, **cluster, "includeTopicAuthorizedOperations": False}

    async def test(brokers: Brokers) -> None:
        brokers.have(T)
        assert await brokers.upstream.topics([]) == {}
        assert brokers.asked == []
        # Each once, in order, and those that there are come back.
        assert list(await brokers.upstream.topics(["u", "t", "u"])) == ["t"]
        assert list(await brokers.upstream.all_topics()) == [brokers.upstream.known_by_name("t")]
        assert brokers.asked == [
            (1, {"topics": [{**topic_id, "name": "t"}, {**topic_id, "name": "u"}], **rest}),
            (1, {"topics": None, **rest}),
        ]

    run(monkeypatch, tmp_path, test, version=version)


def test_topics_are_asked_for_by_id_if_nobody_knows_their_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def test(brokers: Brokers) -> None:
        brokers.have(T, U)
        await brokers.upstream.topics(["t"])
        brokers.asked.clear()
        found = await brokers.upstream.topics_by_id([THREE, TWO, NONE, ONE])
        assert list(found.items()) == [(TWO, KNOWN_U), (ONE, KNOWN_T)]
        rest = {"allowAutoTopicCreation": False, "includeTopicAuthorizedOperations": False}
        strange = [{"topicId": f"{NO_ID[:-1]}3", "name": None}, {"topicId": SHOWN[TWO], "name": None}]
        assert brokers.asked == [(1, {"topics": [{"topicId": NO_ID, "name": "t"}], **rest}), (1, {"topics": strange, **rest})]
        brokers.asked.clear()
        assert await brokers.upstream.topics_by_id([NONE]) == {}
        assert await brokers.upstream.topics_by_id([]) == {}
        assert brokers.asked == []
        assert await brokers.upstream.topics_by_id([TWO]) == {TWO: KNOWN_U}
        assert [asked["topics"] for _, asked in brokers.asked] == [[{"topicId": NO_ID, "name": "u"}]]

    run(monkeypatch, tmp_path, test)


def test_an_older_upstream_is_not_asked_for_ids(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def test(brokers: Brokers) -> None:
        brokers.have(T)
        assert await brokers.upstream.topics_by_id([ONE]) == {}
        assert brokers.asked == []

    run(monkeypatch, tmp_path, test, version=11)


def test_what_is_known_is_what_the_last_answer_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def test(brokers: Brokers) -> None:
        upstream = brokers.upstream
        assert (upstream.nodes(), upstream.view(), upstream.names(), upstream.recreations) == ([], [], [], 0)
        assert (upstream.known(ONE), upstream.known_by_name("t"), upstream.node(11)) == (None, None, None)
        brokers.have(T, U)
        assert await upstream.all_topics() == [KNOWN_T, KNOWN_U]
        first, second = (Node(number + 10, Address("host", number)) for number in (1, 2))
        assert upstream.nodes() == [first, second]
        assert [upstream.node(number) for number in (11, 12, 1)] == [first, second, None]
        assert [upstream.known(one) for one in (ONE, TWO, THREE)] == [KNOWN_T, KNOWN_U, None]
        assert [upstream.known_by_name(name) for name in "tuv"] == [KNOWN_T, KNOWN_U, None]
        # What upstream keeps for itself nobody may subscribe to.
        assert upstream.view() == [("t", ONE, 2)]
        assert upstream.names() == ["t", "u"]
        assert brokers.gone == [[]]
        # Nothing is new.
        await upstream.all_topics()
        assert brokers.gone == [[]]
        brokers.have(topic("t", ONE, (11, 5), (12, 5), (11, 0)), U)
        await upstream.all_topics()
        assert upstream.view() == [("t", ONE, 3)]
        assert (brokers.gone, upstream.recreations) == ([[], []], 0)
        # It was written before anybody heard of it.
        assert type(brokers.registry)(tmp_path).view() == [("t", ONE, 3), ("u", TWO, 1)]

    run(monkeypatch, tmp_path, test)


def test_topics_with_errors_are_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def test(brokers: Brokers) -> None:
        forbidden, nameless = topic("f", THREE, code=29), topic(None, THREE, (11, 1))
        electing = topic("t", ONE, (-1, 6), (12, 5), code=5)
        brokers.have(forbidden, nameless, electing, U)
        assert [one.name for one in await brokers.upstream.all_topics()] == ["t", "u"]
        assert brokers.upstream.known(ONE) == Topic("t", ONE, is_internal=False, partitions=(Partition(-1, 6), Partition(12, 5)))
        # An error of a topic that is known says nothing about it.
        brokers.have(topic("t", ONE, code=29))
        assert await brokers.upstream.topics(["t"]) == {}
        assert brokers.upstream.known(ONE) is not None
        assert len(brokers.asked) == 2

    run(monkeypatch, tmp_path, test)


def test_a_broker_that_lags_is_not_believed_about_leaders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def test(brokers: Brokers) -> None:
        brokers.have(T)
        await brokers.upstream.topics(["t"])
        brokers.have(topic("t", ONE, (12, 4), (11, 6)))
        found = await brokers.upstream.topics(["t"])
        assert found["t"].partitions == (Partition(11, 5), Partition(11, 6))
        assert brokers.registry.epochs_of("t") == ()
        # Of another topic of the name it says how it is.
        brokers.have(topic("t", TWO, (12, 0), (11, 1)))
        found = await brokers.upstream.topics(["t"])
        assert found["t"] == Topic("t", TWO, is_internal=False, partitions=(Partition(12, 0), Partition(11, 1)))

    run(monkeypatch, tmp_path, test)


@pytest.mark.parametrize(
    ("place", "leader", "is_news"),
    [
        ((ONE, 0), (12, 6), True),
        ((ONE, 1), (11, 9), True),
        ((ONE, 0), (12, 5), False),
        ((ONE, 0), (12, 4), False),
        ((ONE, 0), (13, 6), False),
        ((ONE, 2), (12, 6), False),
        ((ONE, -1), (12, 6), False),
        ((THREE, 0), (12, 6), False),
    ],
)
def test_a_broker_says_who_leads_a_partition(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: tuple[str, int], leader: tuple[int, int], is_news: bool
) -> None:
    async def test(brokers: Brokers) -> None:
        brokers.have(T)
        await brokers.upstream.topics(["t"])
        assert brokers.upstream.moved(*place, *leader) is is_news
        partitions = list(KNOWN_T.partitions)
        if is_news:
            partitions[place[1]] = Partition(*leader)
        expected = Topic("t", ONE, is_internal=False, partitions=tuple(partitions))
        assert brokers.upstream.known(ONE) == expected
        # A broker that has not heard of it yet does not undo it.
        assert await brokers.upstream.topics(["t"]) == {"t": expected}
        assert brokers.gone == [[]]

    run(monkeypatch, tmp_path, test)


def test_a_topic_that_one_broker_does_not_know_is_asked_of_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def test(brokers: Brokers) -> None:
        brokers.have(T, U)
        await brokers.upstream.all_topics()
        brokers.asked.clear()
        brokers.have(U, only=1)
        brokers.have(T, only=2)
        assert await brokers.upstream.topics(["v", "u", "t"]) == {"t": KNOWN_T, "u": KNOWN_U}
        # Of the one that nobody knew before, nothing more is asked.
        named = [(number, [one["name"] for one in asked["topics"]]) for number, asked in brokers.asked]
        assert named == [(1, ["t", "u", "v"]), (2, ["t"])]
        assert brokers.asked[1][1] == {
            "topics": [{"topicId": NO_ID, "name": "t"}],
            "allowAutoTopicCreation": False,
            "includeTopicAuthorizedOperations": False,
        }
        assert brokers.gone == [[]]
        # Several at once, in order; the other broker does not answer, and is not needed for that.
        brokers.have(only=1)
        brokers.deaf.add(2)
        assert await brokers.upstream.topics(["u", "t"]) == {}
        assert brokers.gone == [[], []]
        assert (brokers.upstream.known(ONE), brokers.upstream.view()) == (None, [])
        assert brokers.upstream.names() == ["t", "u"]

    run(monkeypatch, tmp_path, test)


def test_two_lost_topics_are_asked_for_in_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def test(brokers: Brokers) -> None:
        names = "hgfedcba"
        brokers.have(*(topic(name, NONE[:-2] + name + "A", (11, 0)) for name in names))
        await brokers.upstream.all_topics()
        brokers.have(only=1)
        assert list(await brokers.upstream.topics(names)) == sorted(names)
        assert [one["name"] for one in brokers.asked[-1][1]["topics"]] == sorted(names)

    run(monkeypatch, tmp_path, test)


def test_lanes_are_connections_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def test(brokers: Brokers) -> None:
        upstream = brokers.upstream
        tail = upstream.lane("tail")
        assert upstream.lane("tail") is tail
        assert upstream.lane("control") is upstream.control
        assert upstream.control is not tail
        assert [pool.addresses for pool in brokers.pools] == [[1], [1]]
        assert upstream.bootstrap == [Address("host", 1)]
        brokers.have()
        await upstream.all_topics()
        # Who has answered last is asked first, and nobody twice.
        own = upstream.connections()
        assert own is not upstream.connections()
        assert brokers.pools[-1].addresses == [1, 2]
        await upstream.close()
        assert [pool.is_closed for pool in brokers.pools] == [True, True, False, False]
        assert upstream.lane("tail") is not tail
        for pool in brokers.pools:
            await pool.close()
        options = brokers.pools[0].options
        assert cast("Any", options.security) == "security"
        assert type(options.clock).__name__ == "LoopClock"
        assert options.client_id == "share-state-gateway"
        assert (options.connect_timeout, options.request_timeout, options.max_frame) == (10.0, 30.0, 268_435_456)
        assert options.apis == API_VERSIONS
        assert options.needs == "the upstream of a gateway is Kafka 2.8 or newer, or speaks its protocol"
        assert options.trailing is True

    run(monkeypatch, tmp_path, test)


def test_an_upstream_that_nobody_can_ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def test(brokers: Brokers) -> None:
        brokers.up.clear()
        tail = brokers.upstream.lane("tail")
        with pytest.raises(BrokerUnreachableError) as lost:
            await brokers.upstream.topics(["t"])
        assert str(lost.value).startswith("host:1, host:2: nobody listens")
        assert (lost.value.kafka_code, lost.value.node) == (13, "host:1, host:2")
        assert isinstance(lost.value.__cause__, LostError)
        # The next time begins from what was given, and no other lane is touched.
        assert [pool.is_closed for pool in brokers.pools] == [False, True]
        assert brokers.upstream.lane("tail") is tail
        brokers.up |= {1, 2}
        brokers.have(T)
        assert list(await brokers.upstream.topics(["t"])) == ["t"]
        assert len(brokers.pools) == 3

    run(monkeypatch, tmp_path, test)


def test_several_who_find_nobody_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def test(brokers: Brokers) -> None:
        brokers.up.clear()
        found = await asyncio.gather(*(brokers.upstream.topics(["t"]) for _ in range(2)), return_exceptions=True)
        assert [type(one) for one in found] == [BrokerUnreachableError] * 2

    run(monkeypatch, tmp_path, test)


def test_one_who_finds_nobody_leaves_what_another_has_opened_since(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def test(brokers: Brokers) -> None:
        upstream = brokers.upstream
        brokers.up.clear()

        async def another() -> object:
            await asyncio.sleep(0)
            return upstream.control

        lost, opened, also_lost = await asyncio.gather(
            upstream.topics(["t"]), another(), upstream.topics(["t"]), return_exceptions=True
        )
        assert [type(one) for one in (lost, also_lost)] == [BrokerUnreachableError] * 2
        assert upstream.control is opened
        assert [pool.is_closed for pool in brokers.pools] == [True, False]

    run(monkeypatch, tmp_path, test)
