"""A cluster with one share partition whose state was written at times of the past, and a look at it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from uuid import UUID

from share_state.operate.doctor import Finding, Tools, examine
from share_state.operate.live import LiveView, SharePartitionView
from share_state.operate.reading.plain import STATE_TOPIC
from tests.made_up_log import ACKNOWLEDGED, ARCHIVED, TOPIC_ID, Batch, MadeUpLog
from tests.operate.live.fake_cluster import FakeCluster
from tests.operate.live.fake_configs import member
from tests.operate.live.test_doctor import CALM

ORDERS = UUID(TOPIC_ID)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def written(
    directory: Path, writes: Iterable[tuple[int, Sequence[Batch], int | None]], *, end: int, logs: list[bytes] | None = None
) -> FakeCluster:
    """The state of group `g`, with a member.

    Args:
        directory: of the state log.
        writes: how many ms ago each was, its batches, and the delivery complete count; None: what is settled by then.
        end: the log end offset of the topic's partition.
        logs: its record batches; None: they may not be read.
    """
    log, now = MadeUpLog(), now_ms()
    settled: set[int] = set()
    for number, (age_ms, batches, complete) in enumerate(writes):
        if number == 0:
            log.snapshot(now - age_ms, complete=0)
        settled |= {at for first, last, state, _ in batches if state in {ACKNOWLEDGED, ARCHIVED} for at in range(first, last + 1)}
        log.update(now - age_ms, batches, start=0, complete=len(settled) if complete is None else complete)
    return FakeCluster(
        log.written(directory),
        ends={("orders", ORDERS): [end]},
        members={"g": [member("m-1", {ORDERS: [0]})]},
        configs={"g": dict(CALM)},
        cluster_configs={STATE_TOPIC: {"min.insync.replicas": "1"}},
        logs={} if logs is None else {("orders", 0): logs},
    )


def looked_at(fake: FakeCluster) -> tuple[list[SharePartitionView], list[Finding]]:
    async def look() -> tuple[list[SharePartitionView], list[Finding]]:
        async with fake.serving(), LiveView(fake.bootstrap, timeout=1) as live:
            view, found = await examine(live, Tools("kafka:9092"))
            [group] = view.groups
            return list(group.share_partitions), found

    return asyncio.run(asyncio.wait_for(look(), 60))
