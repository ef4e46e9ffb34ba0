"""The live view and `share-state top` on real brokers, with share consumers at work."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from share_state.operate import analysis
from share_state.operate.live import Health, LiveView, SharePartitionView, View
from tests.cli_runner import run
from tests.kafka.broker import Broker
from tests.operate.brokers import DELIVERIES, RECORDS

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

NAMES = ("gone", "healthy", "poisoned")


def of_groups(view: View) -> dict[str, SharePartitionView]:
    return {group.group: one for group in view.groups if group.group in NAMES for one in group.share_partitions}


async def settled(live: LiveView) -> View:
    """Wait until locks and sessions of the member that vanished have run out, and the others have left."""
    while True:
        view = await live.refresh()
        found = of_groups(view)
        gone = found.get("gone")
        if len(found) == 3 and gone is not None and gone.row is not None and gone.row.held_state == 0:
            if all(group.state == "Empty" for group in view.groups if group.group in NAMES):
                return view
        await asyncio.sleep(0.1)


def test_it_says_how_each_group_does(broker: Broker, tmp_path: Path) -> None:
    async def test() -> View:
        async with LiveView(broker.bootstrap, copy=tmp_path / "copy") as live:
            return await asyncio.wait_for(settled(live), 60)

    view = asyncio.run(test())
    assert view.problems == ()
    found = of_groups(view)
    words = {group: one.verdict.health for group, one in found.items()}
    assert words == {"healthy": Health.OK, "poisoned": Health.POISON, "gone": Health.NO_MEMBERS}
    lags = {group: (one.topic, one.log_end_offset, one.lag) for group, one in found.items()}
    assert lags == {"healthy": ("orders", RECORDS, 0), "poisoned": ("bad", 1, 1), "gone": ("orders", RECORDS, RECORDS)}
    poisoned = found["poisoned"].row
    assert poisoned is not None
    assert (poisoned.held_offset, poisoned.held_count, poisoned.released_total) == (0, DELIVERIES, DELIVERIES)
    healthy = found["healthy"].row
    assert healthy is not None
    # The start offset passes what is settled with the next write.
    assert (healthy.accepted_total, healthy.delivery_complete_count + healthy.start_offset) == (RECORDS, RECORDS)
    # What it keeps is the broker's log, as the other commands read it.
    states, findings = analysis.fold_path(tmp_path / "copy")
    assert findings == []
    told = {row.group: (row.start_offset, row.delivery_complete_count) for one in found.values() if (row := one.row) is not None}
    kept = {state["group"]: (state["start_offset"], state["delivery_complete_count"]) for state in states}
    assert {group: kept[group] for group in told} == told


def test_the_command_says_the_same_and_changes_nothing(broker: Broker, tmp_path: Path) -> None:
    async def test() -> View:
        async with LiveView(broker.bootstrap) as live:
            return await asyncio.wait_for(settled(live), 60)

    before = asyncio.run(test())
    cluster = f"kafka://{broker.bootstrap}"
    ran = run("top", cluster, "--format", "jsonl", "--copy", tmp_path / "copy")
    assert (ran.returncode, ran.stderr) == (1, "")
    rows = [row for row in map(json.loads, ran.stdout.splitlines()) if row["group"] in NAMES]
    assert [(row["group"], row["health"]) for row in rows] == [("poisoned", "POISON"), ("gone", "NO MEMBERS"), ("healthy", "OK")]
    assert rows[0]["why"] == "record 0 is available after 4 deliveries, and the limit is 5"
    table = run("top", cluster)
    assert table.returncode == 1
    words = [line.split()[0] for line in table.stdout.splitlines() if any(f" {name} " in line for name in NAMES)]
    assert words == ["POISON", "NO", "OK"]
    narrow = run("top", cluster, COLUMNS="80")
    assert max(map(len, narrow.stdout.splitlines())) <= 80
    one = run("top", cluster, "--group", "healthy")
    assert (one.returncode, one.stdout.count("healthy")) == (0, 1)
    unknown = run("top", cluster, "--group", "nobody")
    assert unknown.returncode == 2
    assert "--group nobody is not in the cluster, which has " in unknown.stderr
    after = asyncio.run(test())
    assert {key: one.row for key, one in of_groups(after).items()} == {key: one.row for key, one in of_groups(before).items()}
