"""Reading of one broker: which Fetch goes out where and when, sessions that are lost, and what comes of answers."""

from __future__ import annotations

import asyncio

import pytest

from share_state.kafka.client.peers import LostError
from tests.gateway.topics.lane_broker import BACK, NODE, TAILS, Broker, run


def test_what_is_wanted_within_one_turn_goes_out_together() -> None:
    async def test(broker: Broker) -> None:
        readers = [broker.reader(number, 10 + number) for number in range(3)]
        silent = broker.reader(3, 20, wanted=(5,))
        broker.lanes.discard(readers[2])
        sent = await broker.asks(*readers, silent)
        assert (sent.lane, sent.version, sent.session) == (TAILS[0], 13, (0, -1))
        assert sent.offsets == {0: 10, 1: 11, 2: 12}
        assert {key: sent.message[key] for key in ("maxWaitMs", "isolationLevel")} == {"maxWaitMs": 500, "isolationLevel": 1}
        assert [one.is_reading_tail for one in (*readers, silent)] == [True, True, True, False]
        answer = await broker.answers(sent)
        assert broker.taken == [(dict(zip(readers, (10, 11, 12), strict=True)), answer)]
        assert sum(broker.readers.counts.upstream_times.buckets) == 1
        assert 0 <= broker.readers.counts.upstream_times.total < 60
        # They are read on at once, on the lane that is free again.
        (again,) = broker.sent[1:]
        assert (again.lane, again.offsets) == (TAILS[0], sent.offsets)

    run(test)


def test_one_that_joins_while_others_wait_takes_the_next_lane() -> None:
    async def test(broker: Broker) -> None:
        readers = [broker.reader(number) for number in range(7)]
        for one in readers[:5]:
            await broker.asks(one)
        assert [sent.lane for sent in broker.sent] == [*TAILS, BACK]
        assert [sent.message["maxWaitMs"] for sent in broker.sent] == [500] * 4 + [0]
        # All are busy: the last two wait until one of them is free.
        for one in readers[5:]:
            broker.lanes.read_tail(one)
        broker.lanes.discard(readers[6])
        await broker.turns()
        assert len(broker.sent) == 5
        readers[2].wanted.clear()
        await broker.answers(broker.sent[2])
        (late,) = broker.sent[5:]
        assert (late.lane, late.offsets) == (TAILS[2], {5: 0})

    run(test)


def test_back_reads_do_not_wait() -> None:
    async def test(broker: Broker) -> None:
        reader, other = broker.reader(0, 90, wanted=(30, 20, 40)), broker.reader(1, 90, wanted=(7,))
        neither = broker.reader(2, 90, wanted=())
        for one in (reader, other, neither):
            broker.lanes.read_back(one)
        await broker.turns()
        (sent,) = broker.sent
        assert (sent.lane, sent.session, sent.offsets) == (BACK, (0, -1), {0: 20, 1: 7})
        assert sent.message["maxWaitMs"] == 0
        assert not reader.is_reading_tail
        # What comes meanwhile waits for this answer.
        other.wanted.add(8)
        broker.lanes.read_back(other)
        await broker.turns()
        assert len(broker.sent) == 1
        reader.wanted.discard(20)
        other.wanted.discard(7)
        await broker.answers(sent)
        assert [sent.offsets for sent in broker.sent[1:]] == [{0: 30, 1: 8}]
        broker.lanes.read_back(reader)
        broker.lanes.discard(reader)
        other.lanes = reader.lanes = None
        await broker.answers(broker.sent[1])
        assert len(broker.sent) == 2

    run(test)


def test_back_reads_have_no_session() -> None:
    async def test(broker: Broker) -> None:
        for number in range(20):
            broker.lanes.read_back(broker.reader(number, 90, wanted=(5,)))
        await broker.turns()
        (sent,) = broker.sent
        assert (sent.lane, sent.session, len(sent.offsets)) == (BACK, (0, -1), 20)

    run(test)


def test_a_session_is_of_one_lane_and_one_connection() -> None:
    async def test(broker: Broker) -> None:
        readers = [broker.reader(number) for number in range(20)]
        first = await broker.asks(*readers)
        assert first.session == (0, 0)
        alone = await broker.asks(broker.reader(20))
        assert (alone.lane, alone.session) == (TAILS[1], (0, -1))
        await broker.answers(first, 5)
        second = broker.sent[-1]
        assert (second.lane, second.session, second.offsets) == (TAILS[0], (5, 1), {})
        readers[3].tail, readers[3].wanted = 4, {4}
        readers[4].wanted.clear()
        await broker.answers(second, 5)
        third = broker.sent[-1]
        assert (third.session, third.offsets) == ((5, 2), {3: 4})
        assert [topic["partitions"] for topic in third.message["forgottenTopicsData"]] == [[4]]
        del broker.opened[TAILS[0]]
        await broker.answers(third, 5)
        fourth = broker.sent[-1]
        assert (fourth.session, len(fourth.offsets)) == ((0, -1), 19)
        await broker.answers(fourth)
        assert broker.sent[-1].session == (0, -1)

    run(test)


@pytest.mark.parametrize("code", [70, 71, 106])
def test_a_session_that_the_broker_has_lost_is_begun_anew_at_once(code: int) -> None:
    async def test(broker: Broker) -> None:
        readers = [broker.reader(number) for number in range(20)]
        await broker.answers(await broker.asks(*readers), 5)
        await broker.answers(broker.sent[-1], code=code)
        assert len(broker.taken) == 1
        again = broker.sent[-1]
        assert (again.lane, again.session, len(again.offsets)) == (TAILS[0], (0, 0), 20)
        # Lost once more it is an error like any other.
        refused = await broker.answers(again, code=code)
        assert broker.taken[-1] == (dict.fromkeys(readers, 0), refused)
        assert broker.sent[-1].session == (0, 0)
        assert len(broker.sent) == 4

    run(test)


def test_other_errors_leave_the_session() -> None:
    async def test(broker: Broker) -> None:
        readers = [broker.reader(number) for number in range(20)]
        await broker.answers(await broker.asks(*readers), 5)
        answer = await broker.answers(broker.sent[-1], 5, code=56)
        assert broker.taken[-1][1] is answer
        assert [sent.session for sent in broker.sent] == [(0, 0), (5, 1), (5, 2)]

    run(test)


@pytest.mark.parametrize(("offered", "made_up", "chosen"), [(17, False, 17), (17, True, 12), (12, True, 12), (11, True, 11)])
def test_topics_with_made_up_ids_are_fetched_by_name(offered: int, made_up: bool, chosen: int) -> None:
    async def test(broker: Broker) -> None:
        broker.readers.has_made_up_ids = made_up
        sent = await broker.asks(broker.reader(0, 8))
        assert (sent.version, sent.offsets) == (chosen, {0: 8})
        assert ("topic" in sent.message["topics"][0]) == (chosen < 13)

    run(test, version=offered)


@pytest.mark.parametrize("is_away", [False, True])
def test_a_lost_broker_is_told_and_its_readers_are_free(is_away: bool) -> None:
    async def test(broker: Broker) -> None:
        readers = [broker.reader(number, 90) for number in range(2)]
        lost = LostError(str(NODE), "it is gone", code=13, sent=True)
        if is_away:
            broker.is_away = lost
            for one in readers:
                broker.lanes.read_tail(one)
            await broker.turns()
        else:
            sent = await broker.asks(*readers)
            for one in readers:
                one.lanes = None
            # The second word of a connection is not heard.
            sent.done(lost)
            sent.done(lost)
            await broker.turns()
        ((node, of, error), *_) = broker.lost
        assert (node, set(of), error) == (NODE, set(readers), lost)
        assert broker.taken == []
        # What was asked for is wanted still.
        assert [one.wanted for one in readers] == [{90}, {90}]
        if not is_away:
            assert [one.is_reading_tail for one in readers] == [False, False]
            assert len(broker.lost) == len(broker.sent) == 1
        else:
            # Nobody has taken them elsewhere, so they are tried again; here for good, until they are.
            readers[0].lanes = readers[1].lanes = None

    run(test)


def test_a_broker_that_throttles_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    sleep = asyncio.sleep

    async def kept(seconds: float) -> None:
        if seconds:
            slept.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", kept)

    async def test(broker: Broker) -> None:
        reader = broker.reader(0)
        await broker.answers(await broker.asks(reader), throttle_ms=1)
        await broker.answers(broker.sent[-1], throttle_ms=2500)
        await broker.answers(broker.sent[-1])
        assert slept == [0.001, 2.5]
        assert len(broker.taken) == 3

    run(test)


def test_one_that_has_begun_again_meanwhile_takes_nothing() -> None:
    async def test(broker: Broker) -> None:
        same, anew = broker.reader(0, 5), broker.reader(1, 6)
        sent = await broker.asks(same, anew)
        anew.restart()
        answer = await broker.answers(sent)
        assert broker.taken == [({same: 5}, answer)]
        assert (anew.is_reading_tail, anew.tail) == (False, -1)

    run(test)


def test_closing_ends_what_is_in_progress() -> None:
    async def test(broker: Broker) -> None:
        readers = [broker.reader(number, 3) for number in range(2)]
        for one in readers:
            await broker.asks(one)
        await broker.lanes.close()
        assert [one.is_reading_tail for one in readers] == [False, False]
        assert (broker.taken, broker.lost) == ([], [])
        # An answer that is late is nobody's.
        await broker.answers(broker.sent[0])
        assert broker.taken == []

    run(test)


@pytest.mark.parametrize("is_busy", [False, True])
def test_closing_begins_nothing_that_was_due(is_busy: bool) -> None:
    async def test(broker: Broker) -> None:
        if is_busy:
            await broker.asks(broker.reader(2))
        tail, back = broker.reader(0, 3), broker.reader(1, 9, wanted=(4,))
        broker.lanes.read_tail(tail)
        broker.lanes.read_back(back)
        await broker.lanes.close()
        # Nor what is wanted after that.
        broker.lanes.read_tail(tail)
        await broker.turns()
        assert (len(broker.sent), tail.is_reading_tail) == (is_busy, False)

    run(test)
