"""The screen in sizes: ten thousand lines, one cell, and lines that are scrolled; and its colours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from textual import events

from share_state.operate.live import View
from tests.operate.top.made_up import AUDIT, FakeLive, group_view, member, rates, share_partition, usual, view
from tests.operate.top.screen import watched


def large(share_partitions: int) -> View:
    ones = (
        share_partition("many", AUDIT, number, lag=number, rates=rates(accepted=number)) for number in range(share_partitions)
    )
    return view(group_view("many", *ones, members=(member("m-1"),)))


async def test_only_rows_in_sight_are_made_into_text(monkeypatch: pytest.MonkeyPatch) -> None:
    live = FakeLive(large(10_000))
    async with watched(live, group="many") as screen:
        await screen.sees("10,000 OK", "9999")
        grid = screen.table.grid
        made: list[object] = []
        line = grid._line

        def noted(row: Any, *rest: Any, **named: Any) -> Any:
            made.append(row)
            return line(row, *rest, **named)

        monkeypatch.setattr(grid, "_line", noted)
        await screen.press("end")
        await screen.until(lambda: screen.rows()[-1].split()[2] == "0")
        await screen.press("home", "pagedown")
        await screen.until(lambda: len(made) > 0 and len(screen.rows()) > 10)
        assert len(set(map(id, made))) <= 4 * grid.size.height


async def test_the_wheel_scrolls_and_the_next_view_leaves_it_there() -> None:
    live = FakeLive(large(100))
    async with watched(live, group="many") as screen:
        await screen.sees("100 OK", " 99 ")
        # The last column stands beside the scroll bar, not under it, and so does the mark that there are more.
        await screen.until(lambda: screen.cells()[1].endswith("OLDEST→ "))
        await screen.press(*["right"] * 8)
        await screen.sees("WHY", "everything is settled")
        grid = screen.table.grid
        await screen.press("end")
        bottom = grid.scroll_offset.y
        grid.post_message(events.MouseScrollUp(grid, 5, 5, 0, -1, 0, shift=False, meta=False, ctrl=False))
        await screen.until(lambda: grid.scroll_offset.y == grid.scroll_target_y < bottom)
        top, looked = grid.scroll_offset.y, grid._arranged
        live.view = large(100)
        await screen.until(lambda: grid._arranged is not looked)
        assert grid.scroll_offset.y == top
        # A key brings the cursor back.
        await screen.press("down")
        await screen.until(lambda: grid.scroll_offset.y == bottom)


SIZES = ((80, 24), (20, 8), (1, 1))


async def test_no_size_is_too_small() -> None:
    live, drawn = FakeLive(), 0
    live.view = replace(usual(), problems=("groups: broker 1 is away",))
    async with watched(live) as screen:
        await screen.sees("3 groups")
        for width, height in SIZES:
            await screen.pilot.resize_terminal(width, height)
            for key in ("enter", "enter"):
                await screen.press(key)
                lines = screen.lines()
                assert len(lines) == height
                assert {len(line) for line in screen.cells()} == {width}
                drawn += 1
            await screen.press("escape", "escape")
        assert drawn == 2 * len(SIZES)
        await screen.pilot.resize_terminal(80, 24)
        await screen.sees("3 groups", "NO MEMBERS", "A record in a member")


@pytest.mark.parametrize("no_color", [False, True])
async def test_no_color_leaves_no_colour(monkeypatch: pytest.MonkeyPatch, no_color: bool) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    async with watched(FakeLive()) as screen:
        await screen.sees("POISON")
        assert screen.colours() == ({"default"} if no_color else {"default", "red", "white", "green", "color(5)"})
