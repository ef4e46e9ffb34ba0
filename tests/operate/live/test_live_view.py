"""The live view over a broker that a test moves: what it shows, and what it survives."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

import share_state as ss
from share_state.errors import ConfigError
from share_state.operate import analysis
from share_state.operate.live import Health, LiveView, SharePartitionView, View
from tests.operate.live.fake_cluster import CONFIGS, DESCRIBE, FETCH, LIST_OFFSETS, METADATA, FakeCluster
from tests.operate.live.fake_configs import member

ORDERS = UUID(int=1)
KEY = ss.SharePartitionKey("workers", str(ORDERS), 0)
ACKNOWLEDGED, AVAILABLE, ARCHIVED = 2, 0, 4


def write(store: ss.StateStore, start: int, complete: int, *batches: tuple[int, int, int, int]) -> None:
    store.write_state(KEY, ss.WriteState(0, 0, start, complete, [ss.StateBatch(*batch) for batch in batches]))


@pytest.fixture
def cluster(tmp_path: Path) -> FakeCluster:
    log = tmp_path / "log"
    with ss.open(log, partitions=2) as store:
        store.reset_state(KEY, 0, 0)
        write(store, 0, 5, (0, 4, ACKNOWLEDGED, 1), (5, 5, AVAILABLE, 2))
    return FakeCluster(
        log,
        state_partitions=2,
        ends={("orders", ORDERS): [20]},
        members={"workers": [member("m-1", {ORDERS: [0]})]},
        configs={"workers": {"share.delivery.count.limit": "4"}},
    )


def only(view: View) -> SharePartitionView:
    [found] = [one for group in view.groups for one in group.share_partitions]
    return found


async def until(live: LiveView, reached: Callable[[View], bool]) -> View:
    while True:
        view = await live.refresh()
        if reached(view):
            return view
        await asyncio.sleep(0.02)


async def test_it_shows_the_state_with_what_the_brokers_know(cluster: FakeCluster) -> None:
    async with cluster.serving(), LiveView(cluster.bootstrap) as live:
        view = await live.refresh()
    assert view.problems == ()
    assert view.behind == 0
    [group] = view.groups
    assert (group.group, group.state, group.configs) == ("workers", "Stable", {"share.delivery.count.limit": "4"})
    assert group.members is not None
    assert [(one.member_id, one.assignment) for one in group.members] == [("m-1", ((str(ORDERS), 0),))]
    one = only(view)
    assert (one.topic, one.partition, one.log_end_offset, one.lag, one.members) == ("orders", 0, 20, 15, ("m-1",))
    row = one.row
    assert row is not None
    assert (row.start_offset, row.end_offset, row.acknowledged, row.available) == (0, 5, 5, 1)
    assert row.delivery_counts == ((1, 5), (2, 1))
    assert (row.held_offset, row.held_state, row.held_count) == (5, AVAILABLE, 2)
    assert (row.accepted_total, row.released_total) == (5, 1)
    assert row.held_since == row.newest_write
    assert one.verdict.health is Health.OK


async def test_it_tells_the_anomalies_by_kind(cluster: FakeCluster) -> None:
    # Archived at the limit of the group, which is known before the state topic is read; after 3 deliveries it was rejected.
    with ss.open(cluster.log) as store:
        write(store, 0, 8, (5, 5, ARCHIVED, 4), (6, 6, ARCHIVED, 3))
    async with cluster.serving(), LiveView(cluster.bootstrap) as live:
        view = await live.refresh()
        assert only(view).anomalies == (("late_or_poison", 1),)
        [found] = await live.anomalies()
        assert (found.kind, found.group, found.first_offset, found.last_offset) == ("late_or_poison", "workers", 5, 5)
        assert "the limit is 4, as configured" in found.evidence
        with ss.open(cluster.log) as store:
            write(store, 0, 9, (7, 7, ARCHIVED, 4))
            view = await until(live, lambda view: only(view).anomalies == (("late_or_poison", 2),))
            # Another limit counts from here on, and for what was found before.
            cluster.configs["workers"] = {"share.delivery.count.limit": "9"}
            live._configs_at = -1e9
            await until(live, lambda view: only(view).anomalies == ())
            store.delete_state(KEY)
            await until(live, lambda view: only(view).row is None)


async def test_it_follows_what_is_written(cluster: FakeCluster) -> None:
    async with cluster.serving(), LiveView(cluster.bootstrap) as live:
        await live.refresh()
        with ss.open(cluster.log) as store:
            write(store, 6, 0)
            write(store, 6, 1, (7, 7, ACKNOWLEDGED, 1))
            view = await until(live, lambda view: only(view).lag == 13)
            row = only(view).row
            assert row is not None
            assert (row.start_offset, row.held_offset, row.held_state, row.accepted_total) == (6, 6, None, 6)
            assert live.state_batches(*KEY) == [ss.StateBatch(7, 7, ACKNOWLEDGED, 1)]
            rates = only(view).rates
            assert rates is not None
            assert (rates.accepted, rates.lag_rise) == (1, -2)
            store.delete_state(KEY)
            view = await until(live, lambda view: only(view).row is None)
    # The member is assigned it still.
    assert only(view).verdict.health is Health.NO_STATE


async def test_a_restart_reads_only_what_is_new(cluster: FakeCluster, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    async with cluster.serving():
        async with LiveView(cluster.bootstrap, copy=copy) as live:
            first = await live.refresh()
        with ss.open(cluster.log) as store:
            write(store, 6, 0)
        cluster.fetched.clear()
        async with LiveView(cluster.bootstrap, copy=copy) as live:
            second = await until(live, lambda view: only(view).lag == 14)
        assert min(min(offsets) for offsets in cluster.fetched.values() if max(offsets)) == 2
        # The copy is a log as any other, with all that was read.
        states, findings = analysis.fold_path(copy)
        assert (findings, [state["start_offset"] for state in states]) == ([], [6])
        cluster.fetched.clear()
        async with LiveView(cluster.bootstrap, copy=copy) as live:
            third = await live.refresh()
    old, new = only(first).row, only(second).row
    assert old is not None
    assert new is not None
    assert new.oldest_write == old.oldest_write
    assert only(third).row == new


@pytest.mark.parametrize("harm", ["another topic", "a flipped bit", "a torn tail", "shorter than the copy"])
async def test_a_copy_that_is_of_no_use_is_read_again(cluster: FakeCluster, tmp_path: Path, harm: str) -> None:
    copy = tmp_path / "copy"
    async with cluster.serving():
        async with LiveView(cluster.bootstrap, copy=copy) as live:
            expected = only(await live.refresh()).row
        [segment] = [path for path in copy.glob("*/*.log") if path.stat().st_size]
        whole = segment.read_bytes()
        if harm == "another topic":
            cluster.state_topic_id = UUID(int=78)
        elif harm == "a flipped bit":
            segment.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        elif harm == "a torn tail":
            segment.write_bytes(whole + whole[:30])
        else:
            for folder in cluster.log.glob("__share_group_state-*"):
                shutil.rmtree(folder)
            shutil.rmtree(cluster.log)
            with ss.open(cluster.log, partitions=2) as store:
                store.reset_state(KEY, 0, 9)
        async with LiveView(cluster.bootstrap, copy=copy) as live:
            view = await until(live, lambda view: only(view).row is not None and not view.behind)
            if harm == "shorter than the copy":
                view = await until(live, lambda view: only(view).row is not None and only(view).row != expected)
    row = only(view).row
    assert row is not None
    assert row.start_offset == (9 if harm == "shorter than the copy" else 0)
    if harm != "shorter than the copy":
        assert row == expected
    states, findings = analysis.fold_path(copy)
    assert (findings, [state["start_offset"] for state in states]) == ([], [row.start_offset])


async def test_a_directory_of_something_else_is_refused(cluster: FakeCluster, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("", encoding="utf-8")
    async with cluster.serving(), LiveView(cluster.bootstrap, copy=tmp_path) as live:
        with pytest.raises(ConfigError, match="is not empty and no copy of a state topic"):
            await live.refresh()
    assert (tmp_path / "mine").exists()


async def test_a_log_that_was_pruned_meanwhile_is_read_from_its_start(cluster: FakeCluster, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    async with cluster.serving():
        async with LiveView(cluster.bootstrap, copy=copy) as live:
            await live.refresh()
        with ss.open(cluster.log) as store:
            for start in range(6, 12):
                write(store, start, 0)
        partition = ss.state_partition(*KEY, 2)
        cluster.log_starts[partition] = cluster.end(partition) - 2
        cluster.fetched.clear()
        async with LiveView(cluster.bootstrap, copy=copy) as live:
            view = await until(live, lambda view: only(view).row is not None and only(view).lag is not None)
        assert cluster.fetched[partition][:2] == [2, cluster.log_starts[partition]]
        place = live.places()[partition]
        assert (place.log_start, place.log_end) == (cluster.log_starts[partition], cluster.end(partition))
        assert (place.read, place.needed) == (cluster.end(partition), None)
    row = only(view).row
    assert row is not None
    assert row.start_offset == 11
    assert row.snapshot_offset is None


async def test_it_survives_a_restart_of_the_broker(cluster: FakeCluster) -> None:
    async with cluster.serving():
        live = LiveView(cluster.bootstrap, timeout=2)
        await live.__aenter__()
        await live.refresh()
    try:
        view = await until(live, lambda view: len(view.problems) > 1)
        assert any(problem.startswith("the topic __share_group_state: ") for problem in view.problems)
        # What was known is shown on.
        assert only(view).row is not None
        with ss.open(cluster.log) as store:
            write(store, 6, 0)
        async with cluster.serving():
            view = await until(live, lambda view: not view.problems and only(view).lag == 14)
        assert view.failures_total > 0
    finally:
        await live.__aexit__(None, None, None)


@pytest.mark.parametrize(
    ("denied", "problem"),
    [
        (FETCH, "the topic __share_group_state: it cannot be read: READ on the topic __share_group_state is missing"),
        (METADATA, "the topic __share_group_state: it cannot be read: DESCRIBE on the topic __share_group_state is missing"),
        (DESCRIBE, "groups: DESCRIBE on the group workers is missing"),
        (LIST_OFFSETS, "log end offsets: DESCRIBE on the topic orders is missing"),
        (CONFIGS, "configurations of groups: DESCRIBE_CONFIGS on the group workers is missing"),
    ],
)
async def test_a_right_that_is_missing_is_named_and_the_rest_is_shown(cluster: FakeCluster, denied: int, problem: str) -> None:
    cluster.denied = {denied}
    async with cluster.serving(), LiveView(cluster.bootstrap, timeout=1) as live:
        view = await until(live, lambda view: bool(view.problems))
        assert view.problems == (problem,)
        one = only(view)
        assert (one.row is None) == (denied in {FETCH, METADATA})
        assert one.topic == "orders"
        assert (one.log_end_offset is None) == (denied == LIST_OFFSETS)
        assert (view.groups[0].members is None) == (denied == DESCRIBE)
        assert bool(view.groups[0].configs) == (denied != CONFIGS)
        cluster.denied = set()
        await until(live, lambda view: not view.problems)


async def test_without_a_state_topic_there_is_nothing_to_show(cluster: FakeCluster) -> None:
    cluster.members.clear()
    cluster.state_partitions = 0
    async with cluster.serving(), LiveView(cluster.bootstrap) as live:
        view = await live.refresh()
    assert (view.groups, view.problems) == ((), ())
