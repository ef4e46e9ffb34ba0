"""Views that are made up, and a live view that gives what a test puts into it."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from share_state.operate.live import GroupView, Health, LiveRow, Member, Rates, SharePartitionView, Verdict, View
from share_state.types import StateBatch

ORDERS, AUDIT = str(UUID(int=1)), str(UUID(int=2))
NAMES = {ORDERS: "orders", AUDIT: "audit-events"}
#: 2026-11-23 12:00:00 UTC.
NOW = 1_795_435_200_000
SETTLED = Verdict(Health.OK, "everything is settled")
POISONED = Verdict(Health.POISON, "record 0 is available after 4 deliveries, and the limit is 5")


def row(group: str, topic_id: str = ORDERS, partition: int = 0, **fields: Any) -> LiveRow:
    """A share partition of which everything is settled."""
    plain: dict[str, Any] = {
        "state_partition": 0, "state_epoch": 1, "leader_epoch": 0, "start_offset": 8, "delivery_complete_count": 0,
        "end_offset": None, "available": 0, "acknowledged": 0, "archiving": 0, "archived": 0, "delivery_counts": (),
        "held_offset": None, "held_state": None, "held_count": None, "held_since": None, "start_since": NOW - 60_000,
        "oldest_write": NOW - 3_600_000, "newest_write": NOW - 1_000, "snapshot_offset": 0, "accepted_total": 8,
        "released_total": 0, "archiving_total": 0, "archived_totals": (), "passed_available_total": 0, "passed_unknown_total": 0,
    }  # fmt: skip
    return LiveRow(group=group, topic_id=topic_id, partition=partition, **plain | fields)


def rates(**fields: Any) -> Rates:
    plain: dict[str, Any] = {
        "seconds": 60.0, "accepted": 0, "released": 0, "archiving": 0, "rejected": 0, "at_limit": 0, "lag_rise": 0,
    }  # fmt: skip
    return Rates(**plain | fields)


def share_partition(
    group: str, topic_id: str = ORDERS, partition: int = 0, *, verdict: Verdict = SETTLED, **fields: Any
) -> SharePartitionView:
    plain: dict[str, Any] = {
        "topic": NAMES.get(topic_id), "row": row(group, topic_id, partition), "log_end_offset": 8, "lag": 0, "members": (),
        "rates": rates(),
    }  # fmt: skip
    return SharePartitionView(group=group, topic_id=topic_id, partition=partition, verdict=verdict, **plain | fields)


def poisoned(group: str, partition: int = 0) -> SharePartitionView:
    held = row(
        group, ORDERS, partition, start_offset=0, end_offset=9, available=1, acknowledged=9, delivery_complete_count=9,
        delivery_counts=((1, 9), (4, 1)), held_offset=0, held_state=0, held_count=4, held_since=NOW - 754_000,
        start_since=NOW - 800_000,
    )  # fmt: skip
    told = rates(accepted=90, released=3, lag_rise=12)
    return share_partition(
        group, ORDERS, partition, verdict=POISONED, row=held, log_end_offset=30, lag=21, rates=told, members=("m-1",)
    )


def member(member_id: str, *, assigned: tuple[tuple[str, int], ...] = ((ORDERS, 0),)) -> Member:
    return Member(member_id, "billing-worker", "/10.1.2.3", "rack-a", ("orders",), assigned)


def group_view(
    group: str, *share_partitions: SharePartitionView, members: tuple[Member, ...] | None = (), state: str | None = "Stable"
) -> GroupView:
    return GroupView(group=group, state=state, members=members, configs={}, share_partitions=share_partitions)


def view(*groups: GroupView, problems: tuple[str, ...] = (), at_ms: int = NOW) -> View:
    return View(at_ms=at_ms, groups=groups, behind=0, problems=problems, failures_total=len(problems))


def usual() -> View:
    """A group with a poison record, one without members, one that does well."""
    gone = share_partition(
        "gone", verdict=Verdict(Health.NO_MEMBERS, "the group has no members, and 8 records are not settled"),
        row=row("gone", start_offset=0, available=8, end_offset=7, held_offset=0, held_state=0, held_count=1, held_since=NOW),
        lag=8,
    )  # fmt: skip
    return view(
        group_view("gone", gone, state="Empty"),
        group_view("healthy", share_partition("healthy", members=("m-2",)), members=(member("m-2"),)),
        group_view("workers", poisoned("workers"), share_partition("workers", AUDIT, 0), members=(member("m-1"),)),
    )


class FakeLive:
    """Gives the view that it holds, and then waits until it holds another.

    Attributes:
        view: given by the next look; an exception is raised.
        given: what the latest look gave.
        batches: of every share partition.
        asked: whose batches were asked for.
        closed: whether it was closed.
    """

    def __init__(self, first: View | BaseException | None = None) -> None:
        self.view: View | BaseException = usual() if first is None else first
        self.batches: list[StateBatch] | None = [StateBatch(0, 0, 0, 4), StateBatch(1, 9, 2, 1)]
        self.asked: list[tuple[str, str, int]] = []
        self.given: View | BaseException | None = None
        self.closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.closed = True

    async def refresh(self) -> View:
        while self.view is self.given:  # noqa: ASYNC110  it is put there from another thread
            await asyncio.sleep(0.01)
        self.given = self.view
        if isinstance(self.view, BaseException):
            raise self.view
        return self.view

    def state_batches(self, group: str, topic_id: str, partition: int) -> list[StateBatch] | None:
        self.asked.append((group, topic_id, partition))
        return self.batches
