"""The live view and `share-state top` on real brokers, with share consumers at work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import share_state as ss
from share_state.live import Health, LiveView, SharePartitionView, View
from tests.gateway.clients.members import confluent
from tests.gateway.clients.plan import Plan
from tests.gateway.groups import configure_group
from tests.gateway.records import create_topic, produce
from tests.gateway.upstreams import kraft
from tests.kafka.broker import Broker, running
from tests.kafka.home import VERSIONS
from tests.kafka.roundtrip.workload import BROKER_SETTINGS
from tests.python.cli_runner import run

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

RECORDS = 8
#: One less than Kafka's limit by default.
DELIVERIES = 4


@pytest.fixture(scope="module", params=VERSIONS)
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Three groups have been at work: one has accepted everything, one has released a record again and again, one is gone."""
    directory = tmp_path_factory.mktemp("live")
    with running(request.param, directory, {**BROKER_SETTINGS, **kraft.SHARE_SETTINGS}) as broker:
        for topic, records in (("orders", RECORDS), ("bad", 1)):
            create_topic(broker.bootstrap, topic, 1)
            produce(broker.bootstrap, topic, [b"%d" % number for number in range(records)])
        plans = [
            Plan(bootstrap=broker.bootstrap, group="healthy", topics=["orders"], records=RECORDS),
            Plan(bootstrap=broker.bootstrap, group="poisoned", topics=["bad"], weights=(0, 1, 0, 0), records=DELIVERIES),
            Plan(bootstrap=broker.bootstrap, group="gone", topics=["orders"], vanish_after=1),
        ]
        for plan in plans:
            configure_group(broker.bootstrap, plan.group, **{"share.auto.offset.reset": "earliest"})
            with confluent(plan, 0) as member:
                member.wait(60)
        yield broker


def of_groups(view: View) -> dict[str, SharePartitionView]:
    return {group.group: one for group in view.groups for one in group.share_partitions}


async def settled(live: LiveView) -> View:
    """Wait until locks and sessions of the member that vanished have run out, and the others have left."""
    while True:
        view = await live.refresh()
        found = of_groups(view)
        gone = found.get("gone")
        if len(found) == 3 and gone is not None and gone.row is not None and gone.row.held_state == 0:
            if all(group.state == "Empty" for group in view.groups):
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
    states, findings = ss.fold_path(tmp_path / "copy")
    assert findings == []
    told = {row.group: (row.start_offset, row.delivery_complete_count) for one in found.values() if (row := one.row) is not None}
    assert {state["group"]: (state["start_offset"], state["delivery_complete_count"]) for state in states} == told


def test_the_command_says_the_same_and_changes_nothing(broker: Broker, tmp_path: Path) -> None:
    async def test() -> View:
        async with LiveView(broker.bootstrap) as live:
            return await asyncio.wait_for(settled(live), 60)

    before = asyncio.run(test())
    cluster = f"kafka://{broker.bootstrap}"
    ran = run("top", cluster, "--format", "jsonl", "--copy", tmp_path / "copy")
    assert (ran.returncode, ran.stderr) == (1, "")
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [(row["group"], row["health"]) for row in rows] == [("poisoned", "POISON"), ("gone", "NO MEMBERS"), ("healthy", "OK")]
    assert rows[0]["why"] == "record 0 is available after 4 deliveries, and the limit is 5"
    table = run("top", cluster)
    assert table.returncode == 1
    assert [line.split()[0] for line in table.stdout.splitlines()[2:5]] == ["POISON", "NO", "OK"]
    narrow = run("top", cluster, COLUMNS="80")
    assert max(map(len, narrow.stdout.splitlines())) <= 80
    one = run("top", cluster, "--group", "healthy")
    assert (one.returncode, one.stdout.count("healthy")) == (0, 1)
    unknown = run("top", cluster, "--group", "nobody")
    assert unknown.returncode == 2
    assert "--group nobody is not in the cluster, which has gone, healthy, poisoned" in unknown.stderr.replace("│", "").replace(
        "\n", " "
    )
    after = asyncio.run(test())
    assert {key: one.row for key, one in of_groups(after).items()} == {key: one.row for key, one in of_groups(before).items()}
