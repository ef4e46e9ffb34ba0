"""Turns of scrapes, health and readiness, with stand-ins for the parts that are asked."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any, cast

import pytest

from share_state.errors import EnginePoisonedError
from share_state.gateway import monitoring, readings
from share_state.gateway.monitoring import Monitoring
from share_state.kafka.client.peers import LostError
from share_state.kafka.errors import BrokerUnreachableError
from share_state.operate.monitoring.exposition import Readings
from share_state.operate.monitoring.http import Page, Request


class Gateway:
    """The parts of a gateway that are asked."""

    def __init__(self) -> None:
        self.trouble: BaseException | None = None
        self.is_silent = False
        self.plane = SimpleNamespace(is_failing=False, wrong=None)
        self.groups = SimpleNamespace(is_failing=False)
        self.upstream = SimpleNamespace(control=SimpleNamespace(any=self._any))

    async def _any(self) -> None:
        if self.is_silent:
            await asyncio.Event().wait()
        if self.trouble is not None:
            raise self.trouble

    @property
    def monitoring(self) -> Monitoring:
        return Monitoring(cast("Any", self))

    def page(self, path: str) -> Page:
        """Answer to a request for a page."""

        async def ask() -> Page:
            pages = self.monitoring._server._pages
            assert list(pages) == ["/metrics", "/healthz", "/readyz"]
            return await pages[path](Request({}))

        return asyncio.run(ask())


def test_scrapes_have_one_turn_each(monkeypatch: pytest.MonkeyPatch) -> None:
    running = most = 0

    async def read(_: Any) -> Readings:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return {"share_gateway_info": [((version("share-state"), "c", "1"), 1)]}

    monkeypatch.setattr(readings, "read", read)

    async def both() -> list[Page]:
        pages = Gateway().monitoring._server._pages
        return await asyncio.gather(*(pages["/metrics"](Request({})) for _ in range(3)))

    pages = asyncio.run(both())
    assert most == 1
    assert {b'share_gateway_info{cluster_id="c",generation="1"' in page.body for page in pages} == {True}


READY = Page(b"ready\n", "text/plain; charset=utf-8", "200 OK")


def unready(*why: str) -> Page:
    return Page("".join(f"{one}\n" for one in why).encode(), "text/plain; charset=utf-8", "503 Service Unavailable")


def test_a_gateway_is_ready_while_upstream_answers_and_logs_take_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = Gateway()
    assert gateway.page("/healthz") == Page(b"ok\n", "text/plain; charset=utf-8", "200 OK")
    assert gateway.page("/readyz") == READY
    assert asyncio.run(gateway.monitoring.unready()) == []
    for trouble in (LostError("host:1", "it is gone", code=13, sent=False), BrokerUnreachableError("it is away", node="host:1")):
        gateway.trouble = trouble
        assert gateway.page("/readyz") == unready(f"upstream does not answer: {trouble}")
    gateway.trouble = None
    gateway.groups.is_failing = True
    assert gateway.page("/readyz") == unready("the log of groups takes no writes")
    gateway.groups.is_failing = False
    gateway.plane.is_failing = True
    assert gateway.page("/readyz") == unready("the log of share partitions takes no writes")
    gateway.groups.is_failing = gateway.is_silent = True
    monkeypatch.setattr(monitoring, "_READY_TIME", 0.01)
    assert gateway.page("/readyz") == unready(
        "upstream does not answer in time", "the log of share partitions takes no writes", "the log of groups takes no writes"
    )
    gateway.plane.wrong = EnginePoisonedError("a share partition has panicked")
    gateway.plane.is_failing = gateway.groups.is_failing = gateway.is_silent = False
    assert gateway.page("/readyz") == unready("the data plane has failed: a share partition has panicked")
    assert gateway.page("/healthz").status == "200 OK"
