"""The timeline of a share partition: what became of its records lately, read on demand from the copy or from the cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from share_state.errors import ShareStateError
from share_state.operate.analysis.history_row import HistoryCause, HistoryRow
from share_state.operate.analysis.names import counted_state, instant
from share_state.operate.analysis.read_history import history
from share_state.operate.top.column import Column, Table
from share_state.util.printable import printable

if TYPE_CHECKING:
    from pathlib import Path

    from share_state.operate.top.lines import Key

__all__ = ["MOST_ROWS", "TIMELINE", "History", "Timeline"]

#: Number of rows that are kept, the newest.
MOST_ROWS: Final = 2000
#: Rows between two questions whether anybody still waits.
_ASK_EVERY: Final = 256
_STYLES: Final = {
    HistoryCause.ACCEPTED: "green",
    HistoryCause.RELEASED: "magenta",
    HistoryCause.ARCHIVING: "magenta",
    HistoryCause.ARCHIVED: "red",
    HistoryCause.DELETED: "red",
}

#: Told the records read so far and their total; returns whether anybody still waits.
Watched = Callable[[int, int], bool]


class Timeline(NamedTuple):
    """The newest rows, the newest first, and a line about them: where they are from, or why there is none."""

    rows: tuple[HistoryRow, ...]
    about: str


class _NobodyWaitsError(Exception):
    """The reading is given up."""


@dataclass(frozen=True, slots=True)
class History:
    """Source of histories.

    Attributes:
        cluster: its address, ``kafka://HOST:PORT``.
        copy: the directory with the copy of the state topic; it is preferred, because nothing needs to be fetched.
        client_config: settings of the client, in librdkafka's names.
        timeout: seconds to wait for an answer of the cluster.
    """

    cluster: str
    copy: Path | None = None
    # Not told by an error: a password may be among them.
    client_config: Mapping[str, object] | None = field(default=None, repr=False)
    timeout: float | None = None

    def read(self, key: Key, state_partition: int, watched: Watched) -> Timeline:
        """Read what became of the records of a share partition. It blocks, so it belongs into a thread.

        Args:
            key: the share partition.
            state_partition: the partition of the state topic that has its state.
            watched: is told how far it is.
        """

        def progress(done: int, total: int) -> None:
            if not watched(done, total):
                raise _NobodyWaitsError

        group, topic_id, partition = key
        try:
            if self.copy is not None:
                source = "the copy"
                folder = self.copy / f"__share_group_state-{state_partition}"
                rows = history(folder, group=group, topic_id=topic_id, partition=partition)
            else:
                source = "the cluster"
                rows = history(
                    self.cluster,
                    group=group,
                    topic_id=topic_id,
                    partition=partition,
                    client_config=self.client_config,
                    progress=progress,
                    timeout=self.timeout,
                )
            newest: deque[HistoryRow] = deque(maxlen=MOST_ROWS)
            for number, row in enumerate(rows):
                if number % _ASK_EVERY == 0 and not watched(0, 0):
                    raise _NobodyWaitsError  # noqa: TRY301  one way out
                newest.append(row)
        except _NobodyWaitsError:
            return Timeline((), "Given up.")
        except (ShareStateError, OSError) as error:
            return Timeline((), f"The timeline cannot be read: {error}")
        if not newest:
            return Timeline((), f"The log in {source} tells nothing of it.")
        since = instant(newest[0].at_timestamp)
        return Timeline(tuple(reversed(newest)), f"From {source}, since {since}. Press 3 to read it again.")


def _offsets(row: HistoryRow) -> str:
    if row.first_offset is None:
        return "all"
    return str(row.first_offset) if row.first_offset == row.last_offset else f"{row.first_offset}-{row.last_offset}"


def _change(row: HistoryRow) -> str:
    if row.first_offset is None:
        return f"start {row.start_offset}, epochs {row.snapshot_epoch}/{row.state_epoch}/{row.leader_epoch}"
    return f"{_known(row.from_state, row.from_count)} → {_known(row.to_state, row.to_count)}"


def _known(state: int | None, count: int | None) -> str:
    return "unknown" if state is None or count is None else counted_state(state, count)


TIMELINE: Final = Table[HistoryRow](
    (
        # Without the date, which the line above has, and in UTC as everywhere.
        Column("TIME (UTC)", lambda row: instant(row.at_timestamp)[5:19].replace("T", " "), width=14),
        Column("CAUSE", lambda row: printable(row.cause), style=lambda row: _STYLES.get(HistoryCause(row.cause), "")),
        Column("OFFSETS", _offsets),
        Column("CHANGE", _change, says="as a whole: its start offset; snapshot, state and leader epoch"),
        Column("AT", lambda row: str(row.at_offset), right=True, says="the record of the state topic"),
    ),
    lambda row: (row.at_offset, row.first_offset, row.cause),
    fixed=1,
)
