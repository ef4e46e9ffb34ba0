"""The program in a test: no terminal, a size, and waits for what is to be seen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import reduce
from typing import Any

from textual.pilot import Pilot

from share_state.operate.top.app import TopApp
from share_state.operate.top.feed import Live
from share_state.operate.top.table_screen import TableScreen
from share_state.operate.top.timeline import History

NOWHERE = History("kafka://127.0.0.1:1", timeout=1)


class Watched:
    """A program, and who presses its keys."""

    def __init__(self, app: TopApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    def cells(self) -> list[str]:
        """The lines that are on the screen, as wide as it is."""
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip) for strip in strips]

    def lines(self) -> list[str]:
        """The same, without the spaces at their ends."""
        return [line.rstrip() for line in self.cells()]

    @property
    def text(self) -> str:
        return "\n".join(self.lines())

    def colours(self) -> set[str]:
        """The colours on the screen, as the terminal gets them."""
        found = set()
        ground = self.app.screen.styles.background
        filters = [one for one in self.app._filters if one.enabled]
        for strip in self.app.screen._compositor.render_strips():
            drawn = reduce(lambda one, by: one.apply_filter(by, ground), filters, strip)
            styles = [segment.style for segment in drawn if segment.style is not None]
            found |= {color.name for style in styles for color in (style.color, style.bgcolor) if color is not None}
        return found

    def rows(self) -> list[str]:
        """The first words of the lines of the table, with the header."""
        grid = self.table.grid
        return [line for line in self.lines()[grid.region.y : grid.region.bottom] if line]

    @property
    def table(self) -> TableScreen[Any]:
        assert isinstance(self.app.screen, TableScreen)
        return self.app.screen

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait until something can be seen; what is there instead is told when the time is over."""
        try:
            async with asyncio.timeout(20):
                while not reached():
                    await self.pilot.pause(0.01)
        except TimeoutError:
            raise AssertionError(f"it cannot be seen on:\n{self.text}") from None

    async def sees(self, *words: str) -> None:
        """Wait for words."""
        await self.until(lambda: all(word in self.text for word in words))

    async def click_footer(self, column: int, *words: str) -> None:
        """Click on the first key of the footer, and wait for words.

        The footer makes its keys anew while a screen comes up, and a click on one that is going changes nothing: it is repeated.
        """
        clicked = self.app.screen
        for _ in range(4):
            await self.pilot.click("FooterKey", offset=(column, 0))
            with suppress(TimeoutError):
                async with asyncio.timeout(5):
                    while self.app.screen is clicked:
                        await self.pilot.pause(0.01)
                break
        await self.sees(*words)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)


@asynccontextmanager
async def watched(
    live: Live, *, size: tuple[int, int] = (80, 24), group: str | None = None, history: History = NOWHERE, refresh: float = 0.02
) -> AsyncIterator[Watched]:
    """Run the program, and see that it ends. Of a real view `refresh` is not too often: a pilot waits until nothing happens."""
    app = TopApp(live, "kafka://cluster:9092", history, refresh_seconds=refresh, group=group)
    async with app.run_test(size=size) as pilot:
        yield Watched(app, pilot)
