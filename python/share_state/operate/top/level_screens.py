"""The two upper levels: the share groups of the cluster, and the share partitions of one group or of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType

from share_state.analysis.names import plural
from share_state.cli.top.levels import GROUPS, SHARE_PARTITIONS, SHARE_PARTITIONS_OF_ONE, searched, searched_group
from share_state.cli.top.lines import GroupLine, Line, group_lines, key_of, lines, topic_of
from share_state.cli.top.share_partition_screen import SharePartitionScreen
from share_state.cli.top.table_screen import TableScreen
from share_state.live import Health
from share_state.printable import printable

if TYPE_CHECKING:
    from share_state.cli.top.column import Table
    from share_state.cli.top.grid import Grid
    from share_state.live import View

__all__ = ["GroupsScreen", "SharePartitionsScreen"]


def _in_trouble(view: View, group: str | None = None) -> str:
    words: dict[Health, int] = {}
    for line in lines(view, group):
        health = line.one.verdict.health
        words[health] = words.get(health, 0) + 1
    return ", ".join(f"{words[health]:,} {health.value}" for health in Health if health in words)


class GroupsScreen(TableScreen[GroupLine]):
    """The share groups."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("a", "all", "All")]

    def kind(self) -> Table[GroupLine]:
        """See above."""
        return GROUPS

    def rows(self, view: View) -> list[GroupLine]:
        """See above."""
        return group_lines(view)

    def searched(self) -> Callable[[GroupLine], str]:
        """See above."""
        return searched_group

    def title_of(self, view: View) -> str:
        """See above."""
        return f"{self.top.cluster}  {plural(len(view.groups), 'group')}  {_in_trouble(view)}"

    def empty(self, view: View) -> str:
        """See above."""
        return super().empty(view) if self.words else "The cluster has no share group."

    def below(self) -> Text:
        """See above."""
        line = self.grid.row
        if line is None:
            return Text()
        worst = line.worst
        if worst is None:
            return Text(f"{printable(line.group.group)}: {'all do well' if line.words else 'no share partition'}", no_wrap=True)
        return Text(f"{topic_of(worst)} {worst.partition}: {printable(worst.verdict.why)}", no_wrap=True)

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        """Go into a group."""
        self.app.push_screen(SharePartitionsScreen(message.row.group.group))

    def action_all(self) -> None:
        """Show the share partitions of all groups."""
        self.app.push_screen(SharePartitionsScreen(None))


class SharePartitionsScreen(TableScreen[Line]):
    """Share partitions.

    Args:
        group: of this group; None for all.
    """

    def __init__(self, group: str | None) -> None:
        self._group = group
        super().__init__()

    def kind(self) -> Table[Line]:
        """See above."""
        return SHARE_PARTITIONS if self._group is None else SHARE_PARTITIONS_OF_ONE

    def rows(self, view: View) -> list[Line]:
        """See above."""
        return lines(view, self._group)

    def searched(self) -> Callable[[Line], str]:
        """See above."""
        return searched

    def title_of(self, view: View) -> str:
        """See above."""
        if self._group is None:
            return f"all groups  {_in_trouble(view)}"
        group = next((one for one in view.groups if one.group == self._group), None)
        name = printable(self._group)
        if group is None:
            return f"group {name}"
        members = "" if group.members is None else f"  {plural(len(group.members), 'member')}"
        return f"group {name}  {printable(group.state or '')}{members}  {_in_trouble(view, self._group)}"

    def empty(self, view: View) -> str:
        """See above."""
        if self.words:
            return super().empty(view)
        if self._group is None:
            return "No share group has state here."
        if all(one.group != self._group for one in view.groups):
            return f"The cluster has no share group {printable(self._group)}."
        return f"The group {printable(self._group)} has no share partition."

    def below(self) -> Text:
        """See above."""
        line = self.grid.row
        return (
            Text()
            if line is None
            else Text(f"{topic_of(line.one)} {line.one.partition}: {printable(line.one.verdict.why)}", no_wrap=True)
        )

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        """Go into a share partition."""
        self.app.push_screen(SharePartitionScreen(key_of(message.row.one), message.row))
