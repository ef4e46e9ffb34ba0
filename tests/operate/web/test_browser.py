"""The pages in a browser: Chromium of the system, without a window."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from share_state.kafka.client.peers import Address
from share_state.operate.web import letters
from share_state.operate.web.app import application
from share_state.operate.web.background import Background
from share_state.operate.web.server import PageServer
from tests.operate.web.made_up import CLUSTER, LONG, TOPIC_ID, WORKERS, MadeUp, made_up_letters, recorded

Scheme = Literal["light", "dark"]
CHROMIUM = shutil.which("chromium")
AXE = Axe()
#: In CI a missing browser is a failure, and says so itself.
pytestmark = pytest.mark.skipif(CHROMIUM is None and not os.environ.get("CI"), reason="chromium is not installed")

PAGES = {
    "overview": "",
    "group": f"group?group={WORKERS}",
    "share partition": f"share-partition?group={WORKERS}&topic_id={TOPIC_ID}&partition=1",
    "record": f"record?group={WORKERS}&topic_id={TOPIC_ID}&partition=1&offset=1247",
    "dead letters": f"dead-letters?group={WORKERS}&rows=10",
    "no state": f"share-partition?group=no-state&topic_id={TOPIC_ID}&partition=0",
    "nothing": "group?group=nobody",
}


@contextmanager
def serving(made_up: MadeUp, refresh_seconds: float) -> Iterator[Address]:
    """Serve the pages from a thread."""
    addresses: list[Address] = []
    begun = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        watch, background = made_up.watch(refresh_seconds), Background(patience=30)
        await watch.start()
        server = PageServer(application(watch, background, made_up.source(), CLUSTER), None)
        addresses.append(server.listen("127.0.0.1", 0))
        begun.set()
        await server.serve(stop)
        await background.close()
        await watch.close()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert begun.wait(30)
        yield addresses[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Chromium's own sandbox does not work for root, which the gate may be.
        found = playwright.chromium.launch(executable_path=CHROMIUM or "/usr/bin/chromium", args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def still() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch, serving(recorded(), 3600) as (host, port):
        patch.setattr(letters, "read_letters", made_up_letters)
        yield f"http://{host}:{port}/"


@dataclass
class Watched:
    """A page, what it asked for, and what it complained of."""

    page: Page
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@contextmanager
def watched(browser: Browser, width: int, scheme: Scheme = "light", *, javascript: bool = True) -> Iterator[Watched]:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=javascript, reduced_motion="reduce"
    )
    try:
        found = Watched(context.new_page())
        found.page.on("request", lambda request: found.asked.append(request.url))
        found.page.on("console", lambda message: found.said.append(message.text))
        found.page.on("pageerror", lambda error: found.said.append(str(error)))
        yield found
    finally:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_every_page_fits_is_accessible_and_asks_nobody_else(browser: Browser, still: str, width: int, scheme: Scheme) -> None:
    # Colours are all that the dark pages have of their own.
    rules = {} if scheme == "light" else {"runOnly": ["color-contrast"]}
    with watched(browser, width, scheme) as found:
        for name, path in PAGES.items():
            found.page.goto(still + path)
            overflow = found.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert (name, overflow) == (name, 0)
            violations = [
                (one["id"], [node["html"][:120] for node in one["nodes"]])
                for one in AXE.run(found.page, options=rules).response["violations"]
            ]
            assert (name, violations) == (name, [])
        assert len(found.asked) > len(PAGES)
        assert [url for url in found.asked if not url.startswith(still)] == []
        # Only that a page is not there is said, by the browser itself.
        assert found.said == ["Failed to load resource: the server responded with a status of 404 (Not Found)"]


def test_no_width_overflows(browser: Browser, still: str) -> None:
    long = urlencode({"group": LONG})
    with watched(browser, 320) as found:
        for path in (*PAGES.values(), f"group?{long}", f"share-partition?{long}&topic_id={TOPIC_ID}&partition=0"):
            found.page.goto(still + path)
            for width in (320, 600, 960, 1200, 1201, 1920):
                found.page.set_viewport_size({"width": width, "height": 800})
                overflow = found.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                assert (path, width, overflow) == (path, width, 0)


def test_the_keyboard_walks_from_group_to_share_partition(browser: Browser, still: str) -> None:
    with watched(browser, 1280) as found:
        page = found.page
        page.goto(still)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"
        seen = walk(page, WORKERS)
        # The filter, its choices and the heads of the table come before the rows.
        assert seen[:5] == ["q", "health", "sort", "order", "Show"]
        assert [one for one in seen if one in {"Health", "Group", "Lag"}] == ["Health", "Group", "Lag"]
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/group?group={WORKERS}")
        walk(page, "returns")
        page.keyboard.press("Enter")
        page.wait_for_url("**/share-partition?**")
        assert page.inner_text("h1") == "returns 0"
        assert found.said == []


def walk(page: Page, to: str) -> list[str]:
    """Press Tab until something is in focus; every step is one that can be seen."""
    seen: list[str] = []
    while not seen or seen[-1] != to:
        assert len(seen) < 60, seen
        page.keyboard.press("Tab")
        name, width, outline = page.evaluate(
            """() => {
                const one = document.activeElement;
                const width = one.getBoundingClientRect().width;
                return [one.name || one.textContent.trim(), width, getComputedStyle(one).outlineStyle];
            }"""
        )
        assert (name, width > 0, outline) == (name, True, "solid")
        seen.append(name)
    return seen


def test_a_filter_and_an_order_work_without_javascript(browser: Browser, still: str) -> None:
    with watched(browser, 400, javascript=False) as found:
        page = found.page
        page.goto(still)
        page.locator("[name=health]").select_option("in trouble")
        page.locator("[name=sort]").select_option("lag")
        page.locator("[name=order]").select_option("descending")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url("**/?**order=desc")
        names = page.locator("#groups tbody th").all_inner_texts()
        # Those with the same lag keep the order of urgency.
        assert names == ["poison", "no-members", "expiring", "slow", WORKERS, "no-state"]
        page.get_by_label("Filter").fill("poi")
        page.keyboard.press("Enter")
        page.wait_for_url("**/?q=poi&**")
        assert page.locator("#groups tbody th").all_inner_texts() == ["poison"]
        assert page.get_by_role("button", name="Pause").count() == 0
        assert found.said == []


def test_a_page_refreshes_and_keeps_focus_scroll_and_what_is_typed(browser: Browser) -> None:
    made_up = recorded()
    with serving(made_up, 0.1) as (host, port), watched(browser, 1280) as found:
        page = found.page
        page.goto(f"http://{host}:{port}/group?group={WORKERS}")
        page.get_by_label("Filter").fill("half a wo")
        link = page.get_by_role("link", name="returns 0")
        link.focus()
        page.evaluate("document.querySelector('#configs').open = true; window.scrollTo(0, 150)")
        position = page.evaluate("window.scrollY")
        assert position == 150
        groups = tuple(
            replace(group, share_partitions=tuple(one._replace(lag=987_654) for one in group.share_partitions))
            for group in made_up.view.groups
        )
        made_up.view = replace(made_up.view, groups=groups, problems=("groups: the broker is away",))
        page.get_by_role("cell", name="987,654").first.wait_for()
        assert "the broker is away" in page.inner_text("#banner")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "returns 0"
        assert page.evaluate("window.scrollY") == position
        assert page.get_by_label("Filter").input_value() == "half a wo"
        assert page.evaluate("document.querySelector('#configs').open")
        page.get_by_role("button", name="Pause").click()
        assert page.get_by_role("button", name="Pause").get_attribute("aria-pressed") == "true"
        assert found.said == []


def test_a_page_says_when_the_server_is_gone(browser: Browser) -> None:
    with watched(browser, 1280) as found:
        with serving(recorded(), 0.1) as (host, port):
            found.page.goto(f"http://{host}:{port}/")
        found.page.get_by_role("status").filter(has_text="Not refreshed: ").wait_for()
        assert "orders-workers" in found.page.inner_text("#groups")
