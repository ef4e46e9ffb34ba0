"""The rows of the smaller tools, through both faces of Python; each is defined in `benches/plan.py`."""

from __future__ import annotations

from benches.faces.rows import CLOCK, ready
from benches.plan import small
from benches.programs import COLUMNAR, SCALAR

_ROWS = {row.name: row for row in small(COLUMNAR)}


class Rows:
    """Replay of a row; its timed sections count."""

    timer = CLOCK.seconds
    number = 1
    repeat = (5, 20, 5.0)
    warmup_time = 0.5
    param_names = ("row", "engine")
    params = (list(_ROWS), [SCALAR, COLUMNAR])

    def setup(self, row: str, engine: str) -> None:
        self.ready = ready(_ROWS[row], engine)

    def time_row(self, row: str, engine: str) -> None:  # noqa: ARG002 # asv gives the parameters to every call
        self.ready.replay()
