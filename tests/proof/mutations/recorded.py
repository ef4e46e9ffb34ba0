"""Inputs that are mutated: messages, records, answers, segments and histories that Kafka or the recorders made."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import share_state as ss
from share_state import _core
from share_state.operate import analysis
from tests.kafka.wire.wire_vectors import messages, records

REPOSITORY = Path(__file__).resolve().parents[3]
CORPUS = REPOSITORY / "rust" / "proof" / "fuzz" / "corpus"
MESSAGES = messages()
RECORDS = records()
SEGMENTS = [path.read_bytes()[:6_000] for path in sorted((REPOSITORY / "examples" / "orders-4.4.0").rglob("*.log"))]
KEY = ("group", "zaqk6kZrRv24zZ5f5qL_tQ", 0)


@cache
def corpus(target: str) -> list[bytes]:
    """The inputs of a fuzz target."""
    return [path.read_bytes() for path in sorted((CORPUS / target).iterdir())]


@cache
def rows() -> list[analysis.HistoryRow]:
    """The history of recorded share partitions."""
    return list(_core.history_path(REPOSITORY / "examples" / "orders-4.4.0"))[:200]


def columns() -> dict[str, tuple[Any, ...]]:
    """The columns of three records, as a frame brings them."""
    of = [record for record in RECORDS if record.value is not None][:3]
    keys, values = [record.key for record in of], [record.value or b"" for record in of]
    return {
        "topic": _texts([b"__share_group_state"] * 3),
        "key": _texts(keys),
        "value": (0, np.array([0b111], np.uint8), *_texts(values)[2:]),
        "partition": (0, None, np.zeros(3, np.int32)),
        "offset": (0, None, np.arange(3, dtype=np.int64)),
        "timestamp": (0, None, np.full(3, 1_000, np.int64)),
    }


def _texts(texts: list[bytes]) -> tuple[int, None, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    ends = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    return 0, None, ends, np.frombuffer(b"".join(texts), np.uint8)


def active(partition: int = 0) -> ss.SharePartition:
    """A share partition that serves members."""
    made = ss.SharePartition(KEY[0], KEY[1], partition, leader_epoch=1)
    made.begin_initialize()
    made.initialize(ss.ReadStateResult(0, 0, []))
    return made


def held() -> ss.SharePartition:
    """A share partition of which the member `m` holds the offsets 0 to 9."""
    made = active()
    made.acquire("m", [(0, 9)], now_ms=0, max_records=100)
    return made


def follower() -> _core.StateTopicFollower:
    """A follower that has read a segment."""
    made = _core.StateTopicFollower()
    made.take(0, SEGMENTS[0])
    return made
