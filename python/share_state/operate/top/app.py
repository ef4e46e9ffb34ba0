"""The program: it holds the view that is shown, and the screens of its levels."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.app import App
from textual.binding import Binding, BindingType
from textual.message import Message

from share_state.operate.top.feed import Feed, Live
from share_state.operate.top.help_screen import TextScreen, help_text, problems_text
from share_state.operate.top.level_screens import GroupsScreen, SharePartitionsScreen
from share_state.operate.top.table_screen import TableScreen

if TYPE_CHECKING:
    from textual.screen import Screen

    from share_state.operate.live import View
    from share_state.operate.top.lines import Key
    from share_state.operate.top.timeline import History

__all__ = ["TopApp"]

#: Theme with the terminal's own colours on the terminal's own ground: that reads on light and on dark ones.
_THEME: Final = "ansi-dark"
#: Screens that stay: the empty one below all, and the groups.
_ROOTS: Final = 2


class _Seen(Message):
    """A view came."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view


class _Ended(Message):
    """Nothing is followed any more."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class TopApp(App[BaseException]):
    """The screen of `share-state top`. What it returns is the error that ended it; None where somebody quit.

    Args:
        live: what is followed, not open yet.
        cluster: its name for people.
        history: where timelines are read.
        refresh_seconds: time between two looks at the cluster.
        group: begin with the share partitions of this group.
    """

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p,space", "pause", "Pause"),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("exclamation_mark", "problems", show=False),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]

    def __init__(
        self, live: Live, cluster: str, history: History, *, refresh_seconds: float = 2.0, group: str | None = None
    ) -> None:
        # Said here as well: NO_COLOR is looked at before there is a theme.
        super().__init__(ansi_color=True)
        self.theme = _THEME
        self.live = live
        self.cluster = cluster
        self.history = history
        #: The view that is shown; None before the first one.
        self.view: View | None = None
        self.paused = False
        self._newest: View | None = None
        self._group = group
        self._feed = Feed(live, refresh_seconds, self._seen, self._ended)

    @property
    def waiting(self) -> str:
        """Title until the first view comes."""
        return f"{self.cluster}  reading the state topic …"

    def is_lowest(self, screen: Screen[Any]) -> bool:
        """Return whether there is no level above a screen: it is the one of the groups."""
        return screen in self.screen_stack[:_ROOTS]

    def lags(self, key: Key) -> tuple[int, ...]:
        """Return the lag of a share partition at the latest looks."""
        return self._feed.lags(key)

    def on_mount(self) -> None:
        """Begin."""
        self.push_screen(GroupsScreen(self))
        if self._group is not None:
            self.push_screen(SharePartitionsScreen(self, self._group))
        self._feed.start()

    async def on_unmount(self) -> None:
        """Stop following."""
        await asyncio.to_thread(self._feed.stop)

    def _seen(self, view: View) -> None:
        self.post_message(_Seen(view))

    def _ended(self, error: BaseException) -> None:
        self.post_message(_Ended(error))

    def on__seen(self, message: _Seen) -> None:
        """Show a view, unless the screen stands still."""
        self._newest = message.view
        if not self.paused:
            self._show()

    def on__ended(self, message: _Ended) -> None:
        """Leave with the error."""
        self.exit(message.error)

    def _show(self) -> None:
        self.view = self._newest
        self._renew()

    def _renew(self) -> None:
        # There is none while the program ends.
        for screen in self.screen_stack[-1:]:
            if isinstance(screen, TableScreen):
                screen.renew()

    def action_pause(self) -> None:
        """Let the screen stand still, or move again with what is newest."""
        self.paused = not self.paused
        if self.paused:
            self._renew()
        else:
            self._show()

    def action_help(self) -> None:
        """Show the help."""
        self.push_screen(TextScreen(help_text()))

    def action_problems(self) -> None:
        """Show all problems."""
        self.push_screen(TextScreen(problems_text(() if self.view is None else self.view.problems)))
