"""The program as its screens see it: what is followed, the view that is shown, and where it is in the levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from textual.screen import Screen

    from share_state.operate.live import View
    from share_state.operate.top.feed import Live
    from share_state.operate.top.lines import Key
    from share_state.operate.top.timeline import History

__all__ = ["Host"]


class Host(Protocol):
    """Program that holds the screens.

    Attributes:
        live: what is followed.
        cluster: its name for people.
        history: where timelines are read.
        view: the view that is shown; None before the first one.
        paused: True while the screen stands still.
    """

    live: Live
    cluster: str
    history: History
    view: View | None
    paused: bool

    @property
    def waiting(self) -> str:
        """Title until the first view comes."""

    def is_lowest(self, screen: Screen[Any]) -> bool:
        """Return whether there is no level above a screen."""

    def lags(self, key: Key) -> tuple[int, ...]:
        """Return the lag of a share partition at the latest looks."""
