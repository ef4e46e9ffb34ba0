"""Scrapes while the broker is down, and once it is back."""

from __future__ import annotations

import asyncio
import urllib.request
from pathlib import Path
from uuid import UUID

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

import share_state as ss
from share_state.kafka.client.peers import Address
from share_state.operate.live import LiveView
from share_state.operate.live.exporter import Exporter
from tests.operate.live.fake_cluster import FakeCluster
from tests.operate.live.fake_configs import member

ORDERS = UUID(int=1)
PLACE = {"group": "workers", "topic": "orders", "partition": "0"}


def scraped(port: int) -> dict[str, Metric]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        assert answer.status == 200
        return {family.name: family for family in text_string_to_metric_families(answer.read().decode())}


def value(found: dict[str, Metric], name: str) -> float:
    [sample] = found[name].samples
    return float(sample.value)


async def test_what_was_known_is_told_while_the_broker_is_down(tmp_path: Path) -> None:
    log = tmp_path / "log"
    key = ss.SharePartitionKey("workers", str(ORDERS), 0)
    with ss.open(log, partitions=1) as store:
        store.reset_state(key, 0, 0)
        store.write_state(key, ss.WriteState(0, 0, 0, 1, [ss.StateBatch(0, 0, 4, 5)]))
    fake = FakeCluster(log, ends={("orders", ORDERS): [7]}, members={"workers": [member("m-1", {ORDERS: [0]})]})

    async def until(port: int, *, problems: bool) -> dict[str, Metric]:
        while True:
            found = await asyncio.to_thread(scraped, port)
            if bool(value(found, "share_exporter_problems")) == problems:
                return found
            await asyncio.sleep(0.05)

    async with fake.serving():
        live = LiveView(fake.bootstrap, timeout=2)
        await live.__aenter__()
        exporter = Exporter(live, refresh_seconds=0.05)
        address = await exporter.start(Address("127.0.0.1", 0))
        assert address is not None
        before = await until(address.port, problems=False)
    try:
        down = await until(address.port, problems=True)
        for name in ("share_group_start_offset", "share_group_anomalies"):
            assert down[name].samples == before[name].samples != []
        assert [sample.labels for sample in down["share_group_anomalies"].samples] == [PLACE | {"kind": "late_or_poison"}]
        assert value(down, "share_exporter_failures") > value(before, "share_exporter_failures")
        with ss.open(log) as store:
            store.write_state(key, ss.WriteState(0, 0, 1, 0, []))
        async with fake.serving():
            back = await until(address.port, problems=False)
            while value(back, "share_group_start_offset") != 1:
                back = await until(address.port, problems=False)
    finally:
        await exporter.close()
        await live.__aexit__(None, None, None)
