"""The two upper levels: the share groups of the cluster, and the share partitions of one group or of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType

from share_state.operate.analysis.names import plural
from share_state.operate.live import Health
from share_state.operate.top.levels import GROUPS, SHARE_PARTITIONS, SHARE_PARTITIONS_OF_ONE, searched, searched_group
from share_state.operate.top.lines import GroupLine, Line, group_lines, key_of, lines, topic_of
from share_state.operate.top.share_partition_screen import SharePartitionScreen
from share_state.operate.top.table_screen import TableScreen
from share_state.util.printable import printable

if TYPE_CHECKING:
    from share_state.operate.live import View
    from share_state.operate.top.column import Table
    from share_state.operate.top.grid import Grid
    from share_state.operate.top.host import Host

__all__ = ["GroupsScreen", "SharePartitionsScreen"]


def _counted(words: Iterable[Health]) -> str:
    counts = Counter(words)
    return ", ".join(f"{counts[health]:,} {health.value}" for health in Health if health in counts)


def _in_trouble(view: View, group: str | None = None) -> str:
    return _counted(line.one.verdict.health for line in lines(view, group))


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
        return f"{self.top.cluster}  {plural(len(view.groups), 'group')}  {_counted(line.health for line in group_lines(view))}"

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
        self.app.push_screen(SharePartitionsScreen(self.top, message.row.group.group))

    def action_all(self) -> None:
        """Show the share partitions of all groups."""
        self.app.push_screen(SharePartitionsScreen(self.top, None))


class SharePartitionsScreen(TableScreen[Line]):
    """Share partitions.

    Args:
        top: the program.
        group: of this group; None for all.
    """

    def __init__(self, top: Host, group: str | None) -> None:
        self._group = group
        super().__init__(top)

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
        self.app.push_screen(SharePartitionScreen(self.top, key_of(message.row.one), message.row))
