"""Readers of upstream partitions: what errors of each kind lead to, and what is kept."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from share_state.errors import ShareStateError
from share_state.gateway.upstream import readers as module
from share_state.gateway.upstream.reader import PartitionReader, Read, Source
from share_state.kafka.client.fetch import Answer
from share_state.kafka.client.offsets import EARLIEST, LATEST, Found
from share_state.kafka.client.peers import LostError
from tests.gateway.topics.read_cluster import FIRST, OTHER, SECOND, Cluster, T, run
from tests.gateway.wire.batches import record_batch

LOGGER = "share_state.gateway.upstream"
NOW = 1000.0
PLACE = "topic='t' topic_id='tttttttttttttttttttttt' partition=0"


def test_errors_are_told_with_their_names(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        for code in (3, 3, 6):
            cluster.answer(reader, error_code=code)
        for _ in range(2):
            cluster.readers.take({reader: 0}, Answer(0, 56, 0, [], b"ten bytes."))
        assert cluster.readers.counts.upstream_errors == {3: 2, 6: 1, 56: 2}
        assert cluster.readers.counts.upstream_bytes == 20
        cluster.readers.lost(SECOND, [reader], ValueError("because"))
        await cluster.quiet()
        cluster.answer(reader, record_batch(0, 1)[:-1])
        for offset in (7, 8):
            cluster.answer(reader, diverging_epoch=(4, offset))
        assert cluster.readers.counts.truncations == 2
        await cluster.quiet()

    with caplog.at_level("INFO", logger=LOGGER):
        run(test, monkeypatch)
    unknown = f"upstream refused a partition: code=3 (UNKNOWN_TOPIC_OR_PARTITION) {PLACE}"
    levels = {record.getMessage(): record.levelname for record in caplog.records}
    assert caplog.messages[:6] == [
        unknown,
        unknown,
        f"upstream refused a partition: code=6 (NOT_LEADER_OR_FOLLOWER) {PLACE}",
        *["a Fetch was refused: code=56 (KAFKA_STORAGE_ERROR)"] * 2,
        "broker 2 (127.0.0.1:2): no answer to Fetch: because",
    ]
    assert caplog.messages[6].startswith("upstream sent unusable batches at offset 0: no whole batch from offset 0 on")
    assert caplog.messages[6].endswith(f": {PLACE}")
    assert levels[caplog.messages[6]] == "ERROR"
    assert caplog.messages[7:] == [f"upstream truncated the log, which now ends at offset {offset}: {PLACE}" for offset in (7, 8)]


def test_starts_of_logs_are_asked_together(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        readers = [cluster.reader(*place) for place in ((0, 0), (0, 1), (1, 0))]
        readers[2].log_start_offset = 8
        gone = Source("n" * 22, 0, 0)
        asked: list[list[tuple[str, int, int]]] = []

        async def some(_: object, wanted: Any) -> dict[tuple[str, int], Found]:
            asked.append([(topic.name, partition, timestamp) for topic, partition, timestamp in wanted])
            return {(T.topic_id, 0): Found(0, 9), (T.topic_id, 1): Found(0, 7), (OTHER.topic_id, 0): Found(6, 9)}

        monkeypatch.setattr(module, "list_offsets", some)
        # One without a reader was fed by an earlier one.
        sources = [*(one.source for one in readers), Source(OTHER.topic_id, 0, 0), gone]
        for source in sources:
            cluster.readers.ask_log_start(*source)
        assert cluster.rings.told == []
        await cluster.quiet()
        # Each partition once: a broker refuses to be asked twice.
        assert asked == [[("t", 0, EARLIEST), ("t", 1, EARLIEST), ("o", 0, EARLIEST)]]
        assert cluster.rings.told == list(zip(sources, (9, 9, 7, None, None), strict=True))
        assert [one.log_start_offset for one in readers] == [9, 9, 8]
        # Those of another turn are asked for by themselves.
        cluster.readers.ask_log_start(*sources[2])
        await cluster.quiet()
        assert asked[1:] == [[("t", 1, EARLIEST)]]
        assert cluster.rings.told[5:] == [(sources[2], 7)]

    run(test, monkeypatch)


@pytest.mark.parametrize(
    ("why", "told"),
    [
        (LostError("broker 1", "gone", code=13, sent=False), "broker 1: gone"),
        (ShareStateError("it talks nonsense"), "it talks nonsense"),
        (None, ""),
    ],
)
def test_starts_of_logs_that_nobody_tells_hold_nobody_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, why: Exception | None, told: str
) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.01)

    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()

        async def nothing(*_: object) -> None:
            if why is not None:
                raise why
            await asyncio.Event().wait()

        monkeypatch.setattr(module, "list_offsets", nothing)
        cluster.readers.ask_log_start(*reader.source)
        await cluster.quiet()
        assert cluster.rings.told == [(reader.source, None)]
        assert reader.log_start_offset == -1

    with caplog.at_level("INFO", logger=LOGGER):
        run(test, monkeypatch)
    assert caplog.messages == [f"upstream does not report log start offsets: {told}"]


def test_rings_that_get_nothing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        readers = [await cluster.at_home(number) for number in (0, 1)]
        assert cluster.readers.silent_since(NOW) == []
        for reader, since in ((readers[0], NOW - 20), (readers[1], NOW - 10), (readers[0], NOW - 5)):
            monkeypatch.setattr(time, "monotonic", lambda since=since: since)
            cluster.answer(reader, error_code=3)
        assert cluster.readers.silent_since(NOW - 20) == []
        assert cluster.readers.silent_since(NOW - 10) == [readers[0].source]
        assert cluster.readers.silent_since(NOW) == [one.source for one in readers]
        # Nothing new is an answer as well.
        cluster.answer(readers[0])
        assert cluster.readers.silent_since(NOW) == [readers[1].source]
        monkeypatch.undo()
        await cluster.quiet()

    run(test, monkeypatch)


def test_offsets_that_nobody_tells_are_no_sides_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home(offset=50)
        for error in (LostError("1", "gone", code=13, sent=False), ShareStateError("wrong"), None):

            async def told(_: object, asked: Any, error: Exception | None = error) -> dict[tuple[str, int], Found]:
                if error is not None:
                    raise error
                answers = {EARLIEST: Found(6, 100), LATEST: Found(6, 0)}
                return {(topic.topic_id, partition): answers[timestamp] for topic, partition, timestamp in asked}

            monkeypatch.setattr(module, "list_offsets", told)
            cluster.answer(reader, error_code=1)
            assert reader.lanes is None
            await cluster.quiet()
            assert cluster.lanes(reader).node == FIRST
        assert (cluster.cuts, cluster.rings.starts, reader.tail, reader.wanted) == ([], [], 50, {50})
        # One whose topic is gone looks for a home all the same.
        topic = cluster.known.pop(T.topic_id)
        cluster.answer(reader, error_code=1)
        await asyncio.sleep(0.005)
        assert reader.lanes is None
        cluster.known[T.topic_id] = topic
        await cluster.quiet()
        assert cluster.lanes(reader).node == FIRST

    run(test, monkeypatch)


def test_an_answer_of_several_partitions_is_taken_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        first, second, third = [await cluster.at_home(number) for number in (0, 1)] + [await cluster.at_home(topic=OTHER)]
        kept: list[Answer] = []
        monkeypatch.setattr(cluster.readers, "take", lambda _, answer: kept.append(answer))
        rows_of: list[tuple[PartitionReader, dict[str, Any]]] = [
            (first, {"error_code": 6}),
            (second, {"high_watermark": 7}),
            (third, {"high_watermark": 8}),
        ]
        for one, fields in rows_of:
            cluster.answer(one, **fields)
        monkeypatch.undo()
        rows = [row for answer in kept for row in answer.partitions]
        strange = rows[1]._replace(topic="nobody's")
        whole = Answer(0, 0, 0, [strange, *rows], b"")
        cluster.readers.take(dict.fromkeys((first, second, third), 0), whole)
        assert [one.high_watermark for one in (first, second, third)] == [-1, 7, 8]
        assert [source for source, *_ in cluster.rings.reads] == [second.source, third.source]

    run(test, monkeypatch)


def test_batches_are_taken_with_the_transactions_that_were_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home(isolation=1, offset=30)
        batch = record_batch(30, 2)
        cluster.answer(reader, b"##" + batch + b"##", start=2, end=2 + len(batch), aborted=[(7, 31)])
        read = Read(30, b"##" + batch + b"##", 2, 2 + len(batch), [(7, 31)])
        assert cluster.rings.reads == [(reader.source, 1, read)]

    run(test, monkeypatch)


def test_nobody_is_read_while_the_sides_of_the_log_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()
        may_answer = asyncio.Event()

        async def told(_: object, asked: Any) -> dict[tuple[str, int], Found]:
            await may_answer.wait()
            return {(topic.topic_id, partition): Found(0, 7) for topic, partition, _ in asked}

        monkeypatch.setattr(module, "list_offsets", told)
        cluster.answer(reader, error_code=1)
        await asyncio.sleep(0.01)
        assert (reader.lanes, cluster.asked_for) == (None, [])
        may_answer.set()
        await cluster.quiet()
        assert cluster.lanes(reader).node == FIRST

    run(test, monkeypatch)


@pytest.mark.parametrize("has_lanes", [False, True])
def test_closing_ends_the_search_for_leaders(monkeypatch: pytest.MonkeyPatch, has_lanes: bool) -> None:
    async def test(cluster: Cluster) -> None:
        lanes = cluster.lanes(await cluster.at_home()) if has_lanes else None
        cluster.known.clear()
        cluster.reader(topic=OTHER)
        await asyncio.sleep(0.005)
        assert len(asyncio.all_tasks()) == 2
        await cluster.readers.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        # And what is in progress at the brokers.
        assert lanes is None or lanes.tails == []

    run(test, monkeypatch)


def test_closing_ends_the_search_for_the_start_and_end_of_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(cluster: Cluster) -> None:
        reader = await cluster.at_home()

        async def never(*_: object) -> dict[tuple[str, int], Found]:
            await asyncio.Event().wait()
            return {}

        monkeypatch.setattr(module, "list_offsets", never)
        cluster.answer(reader, error_code=1)
        await asyncio.sleep(0.005)
        assert len(asyncio.all_tasks()) == 2
        await cluster.readers.close()
        # Its end begins no search for a leader that goes on.
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert (reader.lanes, cluster.asked_for) == (None, [])

    run(test, monkeypatch)
