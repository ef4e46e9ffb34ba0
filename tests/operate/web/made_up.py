"""A made-up view for the pages: a recorded state topic with topics and members around it, and groups with awkward names."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast
from uuid import UUID

import anyio

from share_state._core import StateTopicFollower
from share_state.operate.analysis.read_states import records_behind
from share_state.operate.dead_letters import Cause, DeadLetter, QueuePlace
from share_state.operate.live import GroupView, Health, LiveRow, LiveView, Member, Rates, SharePartitionView, Verdict, View
from share_state.operate.web.background import Progress
from share_state.operate.web.letters import Dead
from share_state.operate.web.source import Source
from share_state.operate.web.watch import Watch
from share_state.types import SharePartitionKey, StateBatch
from tests.operate.top.made_up import row as live_row
from tests.recordings import ORDERS

CLUSTER = Source("kafka://localhost:9092")
SCRIPT = "<script>alert('group')</script>"
#: A name that turns the direction of reading, and one that is as long as names may be.
TURNED = "payments\u202e-dlq"
LONG = "a-very-long-name-" * 14
WORKERS = "orders-workers"
TOPIC_ID = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
TOPICS = {TOPIC_ID: "orders", "73a06a65-3a29-495c-bb49-2bca2e910757": "returns", "6ba21c57-30ed-43d3-ba77-5c7091e0add1": None}
CONFIGS = {"share.delivery.count.limit": "5", "share.isolation.level": "read_committed", "share.record.lock.duration.ms": "30000"}
RATES = Rates(seconds=60.0, accepted=1240, released=18, archiving=0, rejected=2, at_limit=0, lag_rise=-300)
SETTLED = Verdict(Health.OK, "everything is settled")


def member(number: int, assignment: tuple[tuple[str, int], ...] = ()) -> Member:
    return Member(f"m-{number:08x}-{SCRIPT}", f"worker-{number}", f"/10.0.0.{number}", None, ("orders",), assignment)


def share_partition(group: str, topic: str, partition: int, verdict: Verdict, lag: int | None = 0) -> SharePartitionView:
    """Share partition of a made-up topic, with a row like one of a followed topic."""
    now = time.time_ns() // 1_000_000
    row = live_row(
        group, TOPIC_ID, partition, state_epoch=0, leader_epoch=3, start_offset=120_000 + partition,
        end_offset=120_400 + partition, available=lag or 0, acknowledged=300, archived=2, delivery_counts=((1, 290), (4, 2)),
        held_offset=120_000 + partition, held_state=0, held_count=4, held_since=now - 400_000, start_since=now - 500_000,
        oldest_write=now - 10**8, newest_write=now - 1000, snapshot_offset=12, accepted_total=10_000, released_total=12,
        archived_totals=((5, 2),),
    )  # fmt: skip
    known = None if verdict.health is Health.NO_STATE else row
    members = () if verdict.health is Health.NO_MEMBERS else (member(1).member_id,)
    end = None if lag is None else row.start_offset + lag
    return SharePartitionView(group, TOPIC_ID, partition, topic, known, end, lag, members, RATES, verdict)


def _recorded(follower: StateTopicFollower) -> list[SharePartitionView]:
    rows, _ = follower.changes()
    found = []
    for told in rows:
        row = LiveRow(*told)
        stuck = row.topic_id != TOPIC_ID and row.group == WORKERS
        held = f"for 412 s record {row.held_offset} is available after {row.held_count} deliveries"
        why = held if stuck else "everything is settled"
        verdict = Verdict(Health.STUCK if stuck else Health.OK, why)
        end = row.start_offset if row.end_offset is None else row.end_offset + 1
        lag = records_behind(end, row.start_offset, row.delivery_complete_count)
        topic = TOPICS[row.topic_id]
        rates = RATES if topic == "orders" else None
        found.append(SharePartitionView(*row[:3], topic, row, end, lag, (member(1).member_id,), rates, verdict))
    return sorted(found, key=lambda one: (one.group, one.topic or "", one.partition))


def made_up_view(follower: StateTopicFollower) -> View:
    """Groups of every kind of health, two of them recorded."""
    recorded = _recorded(follower)
    groups = [
        GroupView(
            name,
            "Stable",
            tuple(member(number, ((TOPIC_ID, number - 1),)) for number in (1, 2, 3)),
            CONFIGS,
            tuple(one for one in recorded if one.group == name),
        )
        for name in (WORKERS, "orders-tx-workers")
    ]
    words = {
        Health.POISON: "record 120000 is available after 4 deliveries, and the limit is 5",
        Health.NO_MEMBERS: "the group has no members, and 8123 records are not settled",
        Health.NO_STATE: "a member is assigned it, and the state topic has no state of it",
        Health.EXPIRING: "812 records came back in the last 60 s, released or by locks that ran out, and 3 were accepted",
        Health.SLOW: "the lag grew by 41233 records in the last 60 s",
    }
    for health, why in words.items():
        name = health.lower().replace(" ", "-")
        lag = None if health is Health.NO_STATE else 8123
        members = () if health is Health.NO_MEMBERS else (member(1),)
        state = "Stable" if members else "Empty"
        groups.append(GroupView(name, state, members, {}, (share_partition(name, "payments", 0, Verdict(health, why), lag),)))
    for name in (SCRIPT, TURNED, LONG):
        healthy = tuple(share_partition(name, "<b>events</b>", number, SETTLED) for number in range(3))
        groups.append(GroupView(name, "Stable", (member(7),), CONFIGS, healthy))
    groups.append(GroupView("idle", None, None, {}, ()))
    return View(time.time_ns() // 1_000_000, tuple(sorted(groups, key=lambda one: one.group)), 0, (), 0)


@dataclass
class MadeUp:
    """Live view as the pages see it.

    Attributes:
        view: what `refresh` gives, with the time of now.
        log: from where records and histories come.
    """

    view: View = field(default_factory=lambda: View(0, (), 0, (), 0))
    log: Path = ORDERS
    follower: StateTopicFollower = field(default_factory=StateTopicFollower)
    failure: Exception | None = None

    async def refresh(self) -> View:
        await anyio.lowlevel.checkpoint()
        if self.failure is not None:
            raise self.failure
        return replace(self.view, at_ms=time.time_ns() // 1_000_000)

    def state_batches(self, group: str, topic_id: str, partition: int) -> list[StateBatch] | None:
        return self.follower.state_batches(SharePartitionKey(group, topic_id, partition))

    def places(self) -> dict[int, tuple[int, int | None]]:
        return {number: (place["next_offset"], place["needed_from"]) for number, place in self.follower.places().items()}

    def watch(self, refresh_seconds: float = 3600.0) -> Watch:
        return Watch(cast("LiveView", self), refresh_seconds=refresh_seconds)

    def source(self) -> Source:
        return Source(str(self.log))


def recorded() -> MadeUp:
    """The made-up cluster over the recorded state topic."""
    found = MadeUp()
    assert found.follower.take_path(ORDERS) == []
    found.view = made_up_view(found.follower)
    return found


def made_up_letters(_cluster: Source, group: str, progress: Progress) -> Dead:
    """Dead letters of a queue and of a history."""
    progress(1, 2)
    if group != WORKERS:
        return Dead("the history of its share state", (), 0, ())
    at = 1_795_254_305_173
    told = [
        DeadLetter(group, "orders", None, 1, offset, offset, 1 + offset % 5, Cause.REJECTED, f"rejected {SCRIPT}", at + offset,
                   QueuePlace(f"{SCRIPT}-dlq", 0, offset - 1000, copied=True))
        for offset in range(1200, 1500)
    ]  # fmt: skip
    gone = DeadLetter(group, SCRIPT, str(UUID(int=9)), 0, 17, 48, 5, Cause.DELIVERY_LIMIT, None, at, None)
    letters = (*reversed(told), gone)
    return Dead(f"the dead-letter queue {SCRIPT}-dlq", letters, 12_345, (f"the record at offset 3 of {SCRIPT} is passed over",))
