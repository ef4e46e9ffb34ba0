"""`share-state web` on real brokers: its pages say what `top` says, and where histories come from makes no difference."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from share_state.operate.live import LiveView
from share_state.operate.web.app import application
from share_state.operate.web.background import Background
from share_state.operate.web.source import Source
from share_state.operate.web.watch import Watch
from tests.kafka.broker import Broker
from tests.operate.brokers import DELIVERIES
from tests.operate.brokers.test_live import settled

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


@asynccontextmanager
async def asking(broker: Broker, copy: Path, source: Source) -> AsyncIterator[httpx.AsyncClient]:
    async with LiveView(broker.bootstrap, copy=copy) as live:
        await asyncio.wait_for(settled(live), 60)
        watch, background = Watch(live), Background(patience=60)
        await watch.start()
        app = application(watch, background, source, Source(f"kafka://{broker.bootstrap}"))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            yield client
        await background.close()
        await watch.close()


async def told(client: httpx.AsyncClient, path: str, **params: Any) -> dict[str, Any]:
    answer = await client.get(path, params={**params, "format": "json"})
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def test_the_pages_say_how_each_group_does(broker: Broker, tmp_path: Path) -> None:
    async def test(source: Source) -> list[dict[str, Any]]:
        async with asking(broker, tmp_path / "copy", source) as client:
            overview = await told(client, "/")
            assert overview["problems"] == []
            words = {one["group"]: (one["health"], one["lag"]) for one in overview["groups"]}
            assert {name: words[name] for name in ("poisoned", "gone", "healthy")} == {
                "poisoned": ("POISON", 1),
                "gone": ("NO MEMBERS", 8),
                "healthy": ("OK", 0),
            }
            [row] = (await told(client, "/group", group="poisoned"))["share_partition_list"]
            place = {name: row[name] for name in ("group", "topic_id", "partition")}
            page = await told(client, "/share-partition", **place)
            assert (page["reading_failure"], page["reading_progress"], page["reading_findings"]) == (None, None, [])
            traced = (await told(client, "/record", **place, offset=0))["record"]
            assert (traced["outcome"], traced["delivery_count"]) == ("available", DELIVERIES)
            dead = await told(client, "/dead-letters", group="poisoned")
            assert (dead["reading_failure"], dead["told_by"], dead["letters"]) == (None, "the history of its share state", [])
            shown = await client.get("/share-partition", params=place)
            assert f'class="fill-d{DELIVERIES}"' in shown.text
            history: list[dict[str, Any]] = page["history"]
            return history

    from_cluster = asyncio.run(test(Source(f"kafka://{broker.bootstrap}")))
    released = [(row["to_count"], row["first_offset"]) for row in from_cluster if row["cause"] == "released"]
    assert released == [(count, 0) for count in range(1, DELIVERIES + 1)]
    assert asyncio.run(test(Source(str(tmp_path / "copy")))) == from_cluster
