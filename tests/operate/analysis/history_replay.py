"""Applies the rows of a history: what a reader of the rows knows of every share partition."""

from dataclasses import dataclass, field

from share_state.operate.analysis import HistoryCause, HistoryRow

Key = tuple[str, str, int]


@dataclass
class Replayed:
    """Share partition after the rows so far."""

    row: HistoryRow
    known: dict[int, tuple[int, int]] = field(default_factory=dict)

    def batches(self) -> list[tuple[int, int, int, int]]:
        """Deliveries that are known, as sorted and coalesced batches."""
        runs: list[tuple[int, int, int, int]] = []
        for offset, (state, count) in sorted(self.known.items()):
            if runs and runs[-1][1] + 1 == offset and runs[-1][2:] == (state, count):
                runs[-1] = (runs[-1][0], offset, state, count)
            else:
                runs.append((offset, offset, state, count))
        return runs


def replay(states: dict[Key, Replayed], row: HistoryRow) -> None:
    """Apply one row, and check that it tells truly what was before."""
    key = row[:3]
    if row.cause == HistoryCause.DELETED:
        del states[key]
        return
    if row.cause == HistoryCause.INITIALISED or key not in states:
        states[key] = Replayed(row)
    state = states[key]
    state.row = row
    if row.first_offset is None:
        return
    assert row.last_offset is not None
    before = None if row.from_state is None else (row.from_state, row.from_count)
    for offset in range(row.first_offset, row.last_offset + 1):
        assert state.known.get(offset) == before, row
        if row.to_state is None:
            state.known.pop(offset, None)
        else:
            assert row.to_count is not None
            state.known[offset] = (row.to_state, row.to_count)
