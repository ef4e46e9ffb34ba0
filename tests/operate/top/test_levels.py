"""The levels of the screen over a view that is made up: keys, mouse, filter, sorting, pause, sizes, problems."""

from __future__ import annotations

import asyncio
import gc
import warnings
from dataclasses import replace

import pytest

from share_state.errors import ShareStateError
from share_state.operate.live import Health, Verdict, View
from tests.operate.top.made_up import FakeLive, group_view, poisoned, share_partition, usual, view
from tests.operate.top.screen import watched

HANDS = "A record in a member's hands shows as its last written state, or not at all."


def now(live: FakeLive) -> View:
    assert isinstance(live.view, View)
    return live.view


async def test_work_that_a_quick_end_cancels_leaves_no_coroutine_behind() -> None:
    async with watched(FakeLive()) as screen:
        await screen.sees("3 groups")
        await screen.until(lambda: not screen.table._renewing)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            screen.table.renew()
            # As where the program ends before the work has begun.
            screen.app.workers.cancel_all()
            await asyncio.sleep(0)
            gc.collect()
        assert [str(one.message) for one in warned] == []


async def test_enter_goes_deeper_and_escape_back() -> None:
    live = FakeLive()
    async with watched(live) as screen:
        await screen.sees("3 groups", "1 POISON, 1 NO MEMBERS, 1 OK", HANDS)
        head, *rows = screen.rows()
        assert head.split() == ["HEALTH", "▼", "GROUP", "STATE", "MEMBERS", "PARTS", "LAG", "TREND", "FLIGHT", "ACC/s", "→"]
        assert [row.split()[:3] for row in rows] == [
            ["POISON", "workers", "Stable"], ["NO", "MEMBERS", "gone"], ["OK", "healthy", "Stable"],
        ]  # fmt: skip
        assert rows[0].split()[3:] == ["1", "2", "21", "▲12", "1", "1.5"]
        await screen.sees("orders 0: record 0 is available after 4 deliveries, and the limit is 5")
        await screen.press("enter")
        await screen.sees("group workers  Stable  1 member  1 POISON, 1 OK", "audit-events")
        head, first, second = screen.rows()
        assert head.split() == ["HEALTH", "▼", "TOPIC", "PART", "LAG", "TREND", "FLIGHT", "HEAD", "HELD", "OLDEST", "→"]
        assert first.split() == ["POISON", "orders", "0", "21", "▲12", "1", "avail×4", "12m", "13m"]
        assert second.split() == ["OK", "audit-events", "0", "0", "=", "0", "-", "-", "-"]
        await screen.press("enter")
        await screen.sees("group workers  topic orders  partition 0", " POISON  record 0 is available after 4 deliveries")
        assert live.asked[-1] == ("workers", poisoned("workers").topic_id, 0)
        await screen.press("escape")
        await screen.sees("group workers  Stable")
        await screen.press("escape")
        await screen.sees("3 groups")
        # There is no level above.
        await screen.press("escape", "down", "down", "enter")
        await screen.sees("group healthy")
    assert live.closed


async def test_all_groups_and_the_group_of_the_command() -> None:
    async with watched(FakeLive(), group="gone") as screen:
        await screen.sees("group gone  Empty  0 members", "NO MEMBERS", "the group has no members, and 8 records")
        await screen.press("escape", "a")
        await screen.sees("all groups", "workers", "healthy")
        assert [row.split()[0] for row in screen.rows()] == ["HEALTH", "POISON", "NO", "OK", "OK"]
    async with watched(FakeLive(), group="nobody") as screen:
        await screen.sees("The cluster has no share group nobody.")
    async with watched(FakeLive(view())) as screen:
        await screen.sees("The cluster has no share group.")


async def test_rows_are_sorted_by_keys_and_by_a_click_on_a_header() -> None:
    async with watched(FakeLive(), size=(120, 24)) as screen:
        await screen.press("a")
        await screen.sees("all groups", "healthy")

        def groups() -> list[str]:
            return [row.replace("NO MEMBERS", "NO").split()[1] for row in screen.rows()[1:]]

        assert groups() == ["workers", "gone", "healthy", "workers"]
        await screen.press("s")
        await screen.until(lambda: groups() == ["gone", "healthy", "workers", "workers"])
        assert "GROUP  ▼" in screen.rows()[0]
        await screen.press("r")
        await screen.until(lambda: groups() == ["workers", "workers", "healthy", "gone"])
        assert "GROUP  ▲" in screen.rows()[0]
        lag = screen.rows()[0].index("LAG")
        for expected in (["workers", "gone", "healthy", "workers"], ["healthy", "workers", "gone", "workers"]):
            await screen.pilot.click("#grid", offset=(lag, 0))
            await screen.until(lambda expected=expected: groups() == expected)  # type: ignore[misc]  # a default binds it
        await screen.press("S", "S", "S", "S")
        await screen.until(lambda: "HEALTH    ▼" in screen.rows()[0])


async def test_the_mouse_moves_the_cursor_and_opens() -> None:
    async with watched(FakeLive()) as screen:
        await screen.sees("3 groups", "healthy")
        await screen.pilot.click("#grid", offset=(14, 2))
        await screen.sees("orders 0: the group has no members")
        await screen.pilot.click("#grid", offset=(14, 2))
        await screen.sees("group gone  Empty")
        # The keys at the bottom are buttons.
        await screen.click_footer(1, "group gone  topic orders  partition 0")


async def test_a_filter_keeps_lines_with_all_words() -> None:
    async with watched(FakeLive()) as screen:
        await screen.press("a")
        await screen.sees("healthy")
        await screen.press("slash", "K", "space", *"au")
        await screen.until(lambda: len(screen.rows()) == 2)
        await screen.press("enter", "enter")
        await screen.sees("group workers  topic audit-events")
        await screen.press("escape")
        await screen.sees("/ K au")
        await screen.press("slash", "x")
        await screen.sees("No line has the words of the filter.")
        await screen.press("escape")
        await screen.until(lambda: len(screen.rows()) == 5)
        assert "/ K au" not in screen.text
        assert "all groups" in screen.text


async def test_paused_the_screen_stands_still() -> None:
    live = FakeLive()
    async with watched(live) as screen:
        await screen.sees("3 groups")
        await screen.press("p")
        await screen.sees("PAUSED")
        live.view = view(group_view("late", share_partition("late")))
        await screen.until(lambda: live.given is live.view)
        await screen.press("down")
        assert "late" not in screen.text
        await screen.press("space")
        await screen.sees("1 group ", "late")
        assert "PAUSED" not in screen.text


async def test_the_cursor_stays_on_its_row() -> None:
    live = FakeLive()
    async with watched(live) as screen:
        await screen.sees("3 groups")
        await screen.press("end")
        new = share_partition("worse", verdict=Verdict(Health.STUCK, "for 200 s it stands"), lag=5)
        live.view = view(*now(live).groups, group_view("worse", new))
        await screen.sees("4 groups", "STUCK")
        await screen.press("enter")
        await screen.sees("group healthy")


async def test_a_group_goes_away_while_it_is_open() -> None:
    live = FakeLive()
    async with watched(live) as screen:
        await screen.sees("3 groups")
        await screen.press("enter")
        await screen.sees("group workers  Stable")
        await screen.press("enter")
        await screen.sees("topic orders  partition 0")
        live.view = view(*(group for group in usual().groups if group.group != "workers"))
        await screen.sees("IS GONE: as it was seen last", "record 0 is available after 4 deliveries")
        await screen.press("escape")
        await screen.sees("The cluster has no share group workers.")
        await screen.press("enter", "escape")
        await screen.sees("2 groups")


async def test_problems_are_told_and_what_was_known_stays() -> None:
    live = FakeLive()
    async with watched(live) as screen:
        await screen.sees("3 groups")
        problems = ("groups: broker\x1b[2J 1 is away", "the topic __share_group_state: READ is missing")
        live.view = replace(now(live), problems=problems, behind=7)
        await screen.sees("! groups: broker\\x1b[2J 1 is away", "+2 more: !", "workers")
        await screen.press("exclamation_mark")
        await screen.sees("What cannot be seen", "READ is missing")
        await screen.press("escape")
        live.view = usual()
        await screen.until(lambda: "is away" not in screen.text and "3 groups" in screen.text)


async def test_what_ends_the_view_ends_the_screen() -> None:
    live = FakeLive()
    error = ShareStateError("the copy cannot be used")
    async with watched(live) as screen:
        await screen.sees("3 groups")
        live.view = error
        await screen.until(lambda: screen.app.return_value is not None)
    assert screen.app.return_value is error


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
async def test_it_quits_and_closes(key: str) -> None:
    live = FakeLive()
    async with watched(live) as screen:
        await screen.sees("3 groups")
        await screen.press(key)
        assert not screen.app.is_running
    assert screen.app.return_code == 0
    assert live.closed


async def test_the_help_tells_keys_words_and_columns() -> None:
    async with watched(FakeLive(), size=(100, 60)) as screen:
        await screen.press("question_mark")
        await screen.sees("Keys", "pause the screen", *(health.value for health in Health), "BACK/s")
        await screen.press("question_mark")
        await screen.sees("3 groups")
