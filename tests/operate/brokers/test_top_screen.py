"""The screen of `share-state top` on real brokers: the words of the groups, and the reason that Enter shows."""

from __future__ import annotations

import asyncio

import pytest

from share_state.operate.live import LiveView
from share_state.operate.top.timeline import History
from tests.kafka.broker import Broker
from tests.operate.brokers import DELIVERIES
from tests.operate.top.screen import Watched, watched

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


def words(screen: Watched) -> dict[str, str]:
    """The word of each group that the brokers of these tests have from the start."""
    told = [line.replace("NO MEMBERS", "NO-MEMBERS").split()[:2] for line in screen.lines() if len(line.split()) > 1]
    return {group: word for word, group in told if group in {"healthy", "poisoned", "gone"}}


async def test_the_words_are_on_the_screen_and_enter_shows_the_reason(broker: Broker) -> None:
    history = History(f"kafka://{broker.bootstrap}", timeout=60)
    live = LiveView(broker.bootstrap)
    async with watched(live, size=(100, 40), history=history, refresh=0.5) as screen:
        expected = {"poisoned": "POISON", "gone": "NO-MEMBERS", "healthy": "OK"}
        # Locks and sessions of the member that vanished run out first.
        async with asyncio.timeout(60):
            while words(screen) != expected:
                await screen.pilot.pause(0.05)
        # Not by keys, which take a while where brokers talk.
        screen.table._words.value = "poisoned"
        await screen.until(lambda: len(screen.rows()) == 2)
        await screen.press("enter")
        await screen.sees("group poisoned", "bad 0: ")
        await screen.press("enter")
        await screen.sees(f"record 0 is available after {DELIVERIES} deliveries, and the limit is 5", "Advice: ")
        await screen.press("3")
        await screen.sees("From the cluster, since ", "initialised", f"available×{DELIVERIES - 1} → available×{DELIVERIES}")
