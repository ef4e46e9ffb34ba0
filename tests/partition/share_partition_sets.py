"""Share partitions that are ready, sets of them, and columns for their calls."""

from __future__ import annotations

from typing import Any

import numpy as np

import share_state as ss
from share_state.arguments import InFlightStore

TOPICS = ("zaqk6kZrRv24zZ5f5qL_tQ", "ZGlmZmVyZW50LXRvcGljIQ")
LOCK_MS = 1_000


def ready(group: str, topic_id: str, partition: int, store: InFlightStore = "leaves") -> ss.SharePartition:
    config = ss.GroupConfig(record_lock_duration_ms=LOCK_MS)
    made = ss.SharePartition(group, topic_id, partition, leader_epoch=3, config=config, store=store)
    made.begin_initialize()
    made.initialize(ss.ReadStateResult(7, 0, []))
    return made


def a_leader(count: int, store: InFlightStore = "leaves") -> list[ss.SharePartition]:
    return [ready(f"group-{i % 3}", TOPICS[i % 2], i, store) for i in range(count)]


def a_set(share_partitions: list[ss.SharePartition]) -> ss.SharePartitions:
    made = ss.SharePartitions()
    assert [made.add(one) for one in share_partitions] == list(range(len(share_partitions)))
    return made


def i32(*values: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.array(values, np.int32)


def i64(*values: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, np.int64)


def i8(*values: int) -> np.ndarray[Any, np.dtype[np.int8]]:
    return np.array(values, np.int8)
