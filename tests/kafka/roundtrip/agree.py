"""Our view of a state directory against the broker's own answers and against Kafka's dump tool."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from share_state import RecordState, SharePartitionKey, StateBatch
from share_state.operate import analysis
from share_state.operate.analysis import HistoryRow
from tests.cli_runner import run
from tests.kafka.roundtrip.tools import dump_log
from tests.kafka.roundtrip.wire import ReadAnswer, SummaryAnswer, read_all
from tests.kafka.roundtrip.workload import STATE_TOPIC

#: Code with which a read of a key without state is refused: INVALID_REQUEST.
_NO_STATE = 42
_PATIENCE = 60.0

_SETTLED = frozenset({RecordState.ACKNOWLEDGED, RecordState.ARCHIVED})

States = dict[SharePartitionKey, dict[str, Any]]
Answers = Mapping[SharePartitionKey, tuple[ReadAnswer, SummaryAnswer]]


def fold(directory: Path, *, killed: bool = False) -> States:
    """Our fold; what cannot be read is a failure, but for the tail that a killed broker may have torn."""
    states, findings = analysis.fold_path(directory)
    assert all(killed and finding["kind"] == "torn_tail" for finding in findings), findings
    folded = {SharePartitionKey(state["group"], state["topic_id"], state["partition"]): state for state in states}
    assert len(folded) == len(states)
    return folded


def differences(states: States, answers: Answers) -> list[str]:
    """Differences between our states and a broker's answers, a line each."""
    found = [f"{key}: the broker was not asked" for key in states.keys() - answers.keys()]
    for key, (read, summary) in answers.items():
        state = states.get(key)
        if state is None:
            if read.error_code != _NO_STATE:
                found.append(f"{key}: we have no state, the broker has {read} {summary}")
            continue
        ours = (
            ReadAnswer(0, state["state_epoch"], state["start_offset"], tuple(StateBatch(*b) for b in state["batches"])),
            SummaryAnswer(
                0,
                state["state_epoch"],
                state["leader_epoch"],
                state["start_offset"],
                state["delivery_complete_count"],
            ),
        )
        if ours != (read._replace(batches=coalesced(read.batches)), summary):
            found.append(f"{key}:\n  ours {ours}\n  Kafka {(read, summary)}")
    return found


def coalesced(batches: Iterable[StateBatch]) -> tuple[StateBatch, ...]:
    """Batches with touching equals as one: the combiner of 4.3 now and then leaves them apart."""
    joined: list[StateBatch] = []
    for batch in batches:
        before = joined[-1] if joined else None
        if before and before[1] + 1 == batch[0] and before[2:] == batch[2:]:
            joined[-1] = before._replace(last_offset=batch.last_offset)
        else:
            joined.append(batch)
    return tuple(joined)


def agree_live(directory: Path, port: int, keys: Sequence[SharePartitionKey]) -> None:
    """Our fold of a running broker's directory equals its answers.

    Locks of members that vanished may still run out meanwhile: what is compared stands between two equal answers.
    """
    until = time.monotonic() + _PATIENCE
    before = read_all(port, keys)
    while True:
        states = fold(directory)
        after = read_all(port, keys)
        found = differences(states, after)
        if before == after and not found:
            return
        assert time.monotonic() < until, "\n".join(found)
        before = after


def agree_dump(directory: Path) -> set[str]:
    """``share-state dump`` of a directory that nobody writes equals DumpLogSegments, field by field; the codecs seen."""
    dump = dump_log(directory)
    assert dump.records
    assert _shown("dump", directory) == dump.records
    return dump.codecs


def agree_cluster(directory: Path, bootstrap: str) -> None:
    """Checks that the readers of the running cluster tell what its directory tells, from each partition's log start on.

    Compared is what stands between two equal looks at the directory: locks may still run out, and segments be pruned.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        before, starts = _shown("dump", directory), log_starts(bootstrap)
        dumped, states = _shown("dump", f"kafka://{bootstrap}"), _shown("state", f"kafka://{bootstrap}")
        rows, expected_rows = list(analysis.history(f"kafka://{bootstrap}")), _rows(directory, starts)
        half = {state_partition: row.at_offset for state_partition, row in _middles(expected_rows).items()}
        earlier = list(analysis.states(f"kafka://{bootstrap}", as_of_offset=half))
        expected_states, after = _shown("state", directory), _shown("dump", directory)
        if before == after and starts == log_starts(bootstrap):
            break
        assert time.monotonic() < until, "the directory does not come to rest"
    # Of a cluster the lag is asked; a directory does not tell it.
    assert any(state["lag"] is not None for state in states)
    assert [{**state, "log_end_offset": None, "lag": None} for state in states] == expected_states
    assert states
    assert dumped == [{**row, "segment": None} for row in before if row["offset"] >= starts[row["partition"]]]
    assert rows == expected_rows
    assert list(analysis.find_anomalies(rows)) == list(analysis.find_anomalies(expected_rows))
    assert earlier == list(analysis.states_of_rows(expected_rows, as_of_offset=half))
    assert earlier


def _rows(directory: Path, starts: Mapping[int, int]) -> list[HistoryRow]:
    """The history that a directory tells of what the cluster still hands out."""
    histories = {partition: analysis.History(partition) for partition in starts}
    return [
        row
        for partition, _segment, offset, timestamp, key, value in analysis.scan_path(directory)
        if offset >= starts[partition]
        for row in histories[partition].replay(offset, timestamp, key, value)
    ]


def _middles(rows: Iterable[HistoryRow]) -> dict[int, HistoryRow]:
    """The row in the middle of each state partition."""
    by_partition = {partition: list(told) for partition, told in groupby(rows, key=lambda row: row.state_partition)}
    return {partition: told[len(told) // 2] for partition, told in by_partition.items()}


def log_starts(bootstrap: str) -> dict[int, int]:
    """Offset at which the log of each state partition begins, as the broker tells a consumer."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "nobody", "log_level": 0})
    try:
        partitions = consumer.list_topics(STATE_TOPIC, _PATIENCE).topics[STATE_TOPIC].partitions
        return {
            partition: consumer.get_watermark_offsets(TopicPartition(STATE_TOPIC, partition), _PATIENCE)[0]
            for partition in partitions
        }
    finally:
        consumer.close()


def _shown(command: str, source: Path | str) -> list[dict[str, Any]]:
    ran = run(command, str(source), "--format", "jsonl")
    assert (ran.returncode, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def unsettled(states: States, settled: Iterable[tuple[SharePartitionKey, int]]) -> list[tuple[SharePartitionKey, int]]:
    """Offsets that a consumer has settled and our states have not."""
    done = {key: [(batch[0], batch[1]) for batch in state["batches"] if batch[2] in _SETTLED] for key, state in states.items()}
    return [
        (key, offset)
        for key, offset in settled
        if key not in states
        or (offset >= states[key]["start_offset"] and not any(first <= offset <= last for first, last in done[key]))
    ]
