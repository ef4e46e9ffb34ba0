"""Requests that wait together go out together, in the order of each share partition."""

from __future__ import annotations

import asyncio

import pytest

import share_state as ss
from share_state.errors import InvalidRequestError, LimitExceededError
from share_state.kafka import BadAnswerError, BrokerUnreachableError, KafkaPersisterError, Topic, folding
from share_state.kafka.client.peers import Address
from share_state.kafka.shown_key import shown_topic_id
from tests.kafka.scripted import (
    FIND,
    INITIALIZE,
    KEY,
    METADATA,
    READ,
    SUMMARY,
    VERSIONS,
    WRITE,
    ScriptedBroker,
    Turn,
    close,
    held,
    on_loop,
    partitions_of,
    persister,
    write,
)


def keys(count: int, group: str = KEY.group) -> list[ss.SharePartitionKey]:
    return [KEY._replace(group=group, partition=index) for index in range(count)]


@on_loop
async def test_calls_made_together_are_one_request_and_one_look_up() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        await asyncio.gather(*(client.reset_state(key, 0, key.partition) for key in keys(100)))
        assert [len(message["coordinatorKeys"]) for message in broker.said(FIND)] == [100]
        assert [partitions_of(message) for message in broker.said(INITIALIZE)] == [list(range(100))]
        assert broker.connections == len(broker.said(VERSIONS)) == 1
        assert client.requests_sent == 3
        states = await asyncio.gather(*(client.read_summary(key) for key in keys(100)))
        assert [state.start_offset for state in states] == list(range(100))
        # The coordinators are known by now.
        assert len(broker.said(FIND)) == 1


@on_loop
async def test_writes_wait_together_for_the_answer_to_the_one_before() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        other = KEY._replace(group="others")
        await asyncio.gather(*(client.reset_state(key, 0, 0) for key in [*keys(5), other]))
        release = asyncio.Event()
        broker.script[WRITE].append(held(release))
        first = asyncio.create_task(client.write_state(keys(5)[0], write()))
        await broker.until(lambda: len(broker.said(WRITE)) == 1)
        others = [asyncio.create_task(client.write_state(key, write())) for key in keys(5)[1:]]
        # Another RPC and another group do not wait for them: it is sent while they are unanswered.
        summary = asyncio.create_task(client.read_summary(other))
        elsewhere = asyncio.create_task(client.reset_state(other, 1, 0))
        await broker.until(lambda: bool(broker.said(SUMMARY)))
        assert len(broker.said(WRITE)) == 1
        assert not first.done()
        release.set()
        await asyncio.gather(first, *others, summary, elsewhere)
        assert [partitions_of(message) for message in broker.said(WRITE)] == [[0], [1, 2, 3, 4]]
        # Those for one share partition do: here the second waits for the answer to the first.
        assert [api_key for api_key, _ in broker.seen][-4:] == [WRITE, SUMMARY, WRITE, INITIALIZE]
        assert broker.connections == 1


@on_loop
async def test_where_very_many_wait_two_requests_are_under_way() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        many = 2 * folding.SECOND_FROM
        await asyncio.gather(*(client.reset_state(key, 1, 0) for key in [*keys(3 * many), *keys(1, "others")]))
        release = asyncio.Event()
        broker.script[WRITE].extend([held(release)] * 2)
        first = [asyncio.create_task(client.write_state(key, write())) for key in keys(many)]
        await broker.until(lambda: len(broker.said(WRITE)) == 2)
        assert [len(partitions_of(message)) for message in broker.said(WRITE)] == [many // 2, many // 2]
        # A third waits, however many there are.
        late = [asyncio.create_task(client.write_state(key, write())) for key in keys(3 * many)[many:]]
        elsewhere = asyncio.create_task(client.read_summary(KEY._replace(group="others")))
        await broker.until(lambda: bool(broker.said(SUMMARY)))
        assert len(broker.said(WRITE)) == 2
        release.set()
        await asyncio.gather(*first, *late, elsewhere)
        written = sorted(number for message in broker.said(WRITE) for number in partitions_of(message))
        assert written == list(range(3 * many))


@on_loop
async def test_a_second_request_does_not_go_out_for_a_few() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        few = folding.SECOND_FROM - 1
        await asyncio.gather(*(client.reset_state(key, 1, 0) for key in [*keys(few + 2), *keys(1, "others")]))
        release = asyncio.Event()
        broker.script[WRITE].append(held(release))
        writes = [asyncio.create_task(client.write_state(KEY, write()))]
        await broker.until(lambda: bool(broker.said(WRITE)))
        writes += [asyncio.create_task(client.write_state(key, write())) for key in keys(few + 1)[1:]]
        elsewhere = asyncio.create_task(client.read_summary(KEY._replace(group="others")))
        await broker.until(lambda: bool(broker.said(SUMMARY)))
        assert len(broker.said(WRITE)) == 1
        # One more and it does.
        writes.append(asyncio.create_task(client.write_state(keys(few + 2)[-1], write())))
        await broker.until(lambda: len(broker.said(WRITE)) == 2)
        release.set()
        await asyncio.gather(*writes, elsewhere)
        assert [len(partitions_of(message)) for message in broker.said(WRITE)] == [1, few + 1]


@on_loop
async def test_the_calls_for_one_share_partition_keep_their_order() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        made = [client.reset_state(KEY, 1, 0)]
        made += [client.write_state(KEY, write(start_offset=offset)) for offset in range(20)]
        *_, last = await asyncio.gather(*made, client.read_summary(KEY))
        assert last == ss.StateSummary(1, 0, 19, -1)
        starts = [message["topics"][0]["partitions"][0]["startOffset"] for message in broker.said(WRITE)]
        # One at a time: an answer names a share partition and not a write.
        assert starts == list(range(20))


@on_loop
async def test_groups_and_topics_are_kept_apart() -> None:
    other_topic = "00000000-0000-0000-0000-000000000007"
    mixed = [*keys(3), *keys(3, "others"), *(key._replace(topic_id=other_topic) for key in keys(2))]
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        await asyncio.gather(*(client.reset_state(key, 0, n) for n, key in enumerate(mixed)))
        asked = {(m["groupId"], len(m["topics"])): partitions_of(m) for m in broker.said(INITIALIZE)}
        assert asked == {("workers", 2): [0, 1, 2, 0, 1], ("others", 1): [0, 1, 2]}
        offsets = [(await client.read_state(key, 0)).start_offset for key in mixed]
        assert offsets == list(range(8))


@on_loop
async def test_a_request_has_a_greatest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        monkeypatch.setattr(folding, "MAX_PARTITIONS", 4)
        await asyncio.gather(*(client.reset_state(key, 1, 0) for key in keys(10)))
        assert [len(partitions_of(message)) for message in broker.said(INITIALIZE)] == [4, 4, 2]
        monkeypatch.setattr(folding, "MAX_BYTES", 200)
        await asyncio.gather(*(client.write_state(key, write()) for key in keys(5)))
        assert [len(partitions_of(message)) for message in broker.said(WRITE)] == [2, 2, 1]
        # One alone is sent whatever its size.
        monkeypatch.setattr(folding, "MAX_BYTES", 10)
        await client.write_state(KEY, write())
        assert len(broker.said(WRITE)) == 4


@on_loop
async def test_a_request_has_a_thousand_share_partitions_at_most_however_many_wait() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        many = keys(2_400)
        await asyncio.gather(*(client.reset_state(key, 1, 0) for key in many))
        # All were looked up, 500 a request.
        assert [len(message["coordinatorKeys"]) for message in broker.said(FIND)] == [500, 500, 500, 500, 400]
        states = await asyncio.gather(*(client.read_summary(key) for key in many))
        assert len(states) == len(many)
        # Half of them would be 1,200.
        assert [len(partitions_of(message)) for message in broker.said(SUMMARY)] == [1000, 1000, 400]
        await asyncio.gather(*(client.write_state(key, write()) for key in many))
        assert [len(partitions_of(message)) for message in broker.said(WRITE)] == [1000, 1000, 400]


@on_loop
async def test_a_request_has_a_mebibyte_at_most_but_for_one_write_that_is_longer() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        await asyncio.gather(*(client.reset_state(key, 1, 0) for key in keys(6)))
        large = ss.WriteState(1, 1, 0, -1, [ss.StateBatch(2 * n, 2 * n, 2, 1) for n in range(20_000)])
        await asyncio.gather(*(client.write_state(key, large) for key in keys(6)))
        sizes = [len(partitions_of(message)) for message in broker.said(WRITE)]
        assert sizes == [2, 2, 2]
        assert folding.MAX_BYTES == 1_048_576


@on_loop
async def test_a_call_that_breaks_the_rules_is_refused_before_it_joins_others() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        await client.reset_state(KEY, 0, 0)
        for number in (0.0, "0", None):
            with pytest.raises(TypeError):
                await client.read_summary((*KEY[:2], number))  # type: ignore[arg-type]
        before = client.requests_sent
        batches = [ss.StateBatch(2 * index, 2 * index, 2, 1) for index in range(100_000)]
        for refused in (
            client.reset_state(KEY._replace(group=""), 0, 0),
            client.reset_state(KEY._replace(group="g" * 32_760), 0, 0),
            client.reset_state(KEY._replace(group="\ud800"), 0, 0),
            client.reset_state(KEY, -1, 0),
            client.read_state(KEY._replace(partition=-1), 0),
            client.read_state(KEY, -1),
            client.delete_state(KEY._replace(topic_id="A" * 22)),
            client.write_state(KEY, ss.WriteState(1, 1, -2, -1, [])),
            client.write_state(KEY, ss.WriteState(1, 1, 0, -1, [ss.StateBatch(9, 5, 2, 1)])),
            client.write_state(KEY, ss.WriteState(1, 1, 0, -1, [ss.StateBatch(5, 9, 1, 1)])),
        ):
            with pytest.raises(InvalidRequestError) as error:
                await refused
            assert type(error.value) is InvalidRequestError
            assert error.value.field is not None
        with pytest.raises(LimitExceededError):
            await client.write_state(KEY, ss.WriteState(1, 1, 0, -1, batches))
        assert client.requests_sent == before
        assert not broker.said(READ)


@on_loop
async def test_topic_ids_are_asked_for_by_name() -> None:
    topics = {"orders": Topic(KEY.topic_id, 3)}
    async with ScriptedBroker(topics=topics) as broker, persister(await broker.start()) as client:
        assert await client.topic_ids(["orders", "nobody's"]) == {"orders": shown_topic_id(KEY.topic_id)}
        by_name = [{"topicId": "A" * 22, "name": name} for name in ("orders", "nobody's")]
        expected = {"topics": by_name, "allowAutoTopicCreation": False, "includeTopicAuthorizedOperations": False}
        assert broker.said(METADATA) == [expected]


@on_loop
async def test_topic_ids_that_may_not_be_told_are_an_error() -> None:
    async def denied(turn: Turn) -> bytes:
        topic = {"errorCode": 29, "name": "orders", "topicId": KEY.topic_id, "isInternal": False, "partitions": []}
        broker = {"nodeId": 1, "host": "h", "port": 1, "rack": None}
        answer = {"throttleTimeMs": 0, "brokers": [broker], "clusterId": "c", "controllerId": 1, "errorCode": 0}
        return turn.answer({**answer, "topics": [{**topic, "topicAuthorizedOperations": 0}]})

    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        node = "{}:{}".format(*await client_address(broker))
        broker.script[METADATA] += [denied, close, silly]
        with pytest.raises(KafkaPersisterError) as refused:
            await client.topic_ids(["orders"])
        expected = f"{node}: topic 'orders': code 29 (TOPIC_AUTHORIZATION_FAILED)"
        assert (str(refused.value), refused.value.kafka_code, refused.value.node) == (expected, 29, node)
        for kind, code, reason in (
            (BrokerUnreachableError, 13, "closed the connection"),
            (BadAnswerError, -1, "what came is no answer: a frame announces -1 bytes, not 4 to 104857600"),
        ):
            with pytest.raises(kind) as lost:
                await client.topic_ids(["orders"])
            assert type(lost.value) is kind
            assert (str(lost.value), lost.value.kafka_code, lost.value.node) == (f"{node}: {reason}", code, node)


async def silly(_turn: Turn) -> bytes:
    return b"\xff\xff\xff\xff"


async def client_address(broker: ScriptedBroker) -> Address:
    assert broker._server is not None
    return Address(*broker._server.sockets[0].getsockname())


@on_loop
async def test_a_broker_without_the_newer_versions_is_asked_in_the_older() -> None:
    async with ScriptedBroker() as broker, persister(await broker.start()) as client:
        broker.extra_versions = {WRITE: (0, 0), SUMMARY: (0, 0)}
        await client.reset_state(KEY, 1, 5)
        await client.write_state(KEY, ss.WriteState(1, 1, 6, 4, []))
        assert "deliveryCompleteCount" not in broker.said(WRITE)[0]["topics"][0]["partitions"][0]
        # Version 0 of the summary does not say what is complete.
        assert await client.read_summary(KEY) == ss.StateSummary(1, 0, 6, -1)
