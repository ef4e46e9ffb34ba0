"""Kafka's bytes from Python: records of the state topic and requests."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from benches.python.workloads import KEY, measure
from share_state import decode_message, decode_record, encode_message, encode_record, scan_path

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

CALLS = 1_000
BATCHES = 10
WRITE_SHARE_GROUP_STATE = 85


def test_decode_recorded(benchmark: BenchmarkFixture, recorded: Path) -> None:
    records = [(key, value) for *_, key, value in scan_path(recorded)]
    assert records

    def work(records: list[tuple[bytes, bytes | None]]) -> None:
        for key, value in records:
            decode_record(key, value)

    measure(
        benchmark,
        figure=("python_decode_record", "only", len(records)),
        elements=len(records),
        setup=lambda: records,
        work=work,
    )


def test_encode_recorded(benchmark: BenchmarkFixture, recorded: Path) -> None:
    decoded = [decode_record(key, value) for *_, key, value in scan_path(recorded)]
    assert decoded

    def work(decoded: list[dict[str, Any]]) -> None:
        for record in decoded:
            encode_record(record)

    measure(
        benchmark,
        figure=("python_encode_record", "only", len(decoded)),
        elements=len(decoded),
        setup=lambda: decoded,
        work=work,
    )


def write_request() -> dict[str, Any]:
    batches = [{"firstOffset": 2 * i, "lastOffset": 2 * i, "deliveryState": 2, "deliveryCount": 1} for i in range(BATCHES)]
    partition = {
        "partition": KEY.partition,
        "stateEpoch": 0,
        "leaderEpoch": 0,
        "startOffset": 0,
        "deliveryCompleteCount": BATCHES,
        "stateBatches": batches,
    }
    topic_id = base64.urlsafe_b64encode(bytes([7]) * 16).decode().rstrip("=")
    return {"groupId": KEY.group, "topics": [{"topicId": topic_id, "partitions": [partition]}]}


def test_write_request(benchmark: BenchmarkFixture) -> None:
    request = write_request()

    def work(request: dict[str, Any]) -> None:
        for _ in range(CALLS):
            data = encode_message(WRITE_SHARE_GROUP_STATE, 1, request)
            decode_message(WRITE_SHARE_GROUP_STATE, 1, data)

    measure(
        benchmark,
        figure=("python_write_request", "only", BATCHES),
        elements=CALLS,
        setup=lambda: request,
        work=work,
    )
