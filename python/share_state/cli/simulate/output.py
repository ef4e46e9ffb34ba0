"""The predictions of `share-state simulate`, as a table and as JSON: what `share_state/schemas/simulate-1.json` describes.

A new field keeps the version; one that goes, or changes its meaning, raises it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.measure import Measurement
from rich.table import Table

from share_state.cli.shared.lines import UNBOUNDED, Lines, console_of_stdout
from share_state.operate.simulation import Prediction, Spread

if TYPE_CHECKING:
    from share_state.operate.simulation import Figures, Model, Settings

__all__ = ["SIMULATE_VERSION", "Row", "recorded_row", "rows_json", "simulated_row", "write_table"]

#: Version of the schema, which is in the rows and in the name of the schema's file.
SIMULATE_VERSION: Final = 1
_FIGURES: Final = ("deliveries", "redeliveries", "accepted", "rejected", "archived_at_limit", "lock_expiries", "drain_ms")
_WAITS: Final = ("p50_ms", "p90_ms", "p99_ms", "longest_ms")
_COLUMNS: Final = (
    ("SETTINGS", "left"),
    ("REDELIVERIES", "right"),
    ("LOCK EXPIRIES", "right"),
    ("AT LIMIT", "right"),
    ("DRAIN", "right"),
    ("START STOOD P50", "right"),
    ("P99", "right"),
    ("LONGEST", "right"),
    ("BUSY", "right"),
)


class Row(NamedTuple):
    """Row of the result: what was recorded, what the model makes of the same settings, or what it makes of others."""

    scenario: str
    #: Against today's, for people.
    changes: str
    settings: Settings
    runs: int
    #: By the names of :class:`Figures` and of :class:`Waits`; None where something is not known.
    spreads: dict[str, Spread | None]


def recorded_row(figures: Figures, today: Settings) -> Row:
    """Return what was recorded."""
    found = {name: getattr(figures, name) for name in (*_FIGURES, "utilisation")} | figures.waits._asdict()
    spreads = {name: None if value is None else Spread.of([float(value)]) for name, value in found.items()}
    return Row("recorded", "recorded", today, 0, spreads)


def simulated_row(prediction: Prediction, today: Settings) -> Row:
    """Return what was simulated."""
    changes = prediction.settings.differences(today)
    names = (*_FIGURES, "utilisation", *_WAITS)
    spreads: dict[str, Spread | None] = {name: prediction.spread(name) for name in names}
    scenario = "try" if changes else "today"
    return Row(scenario, changes or "today, simulated", prediction.settings, len(prediction.runs), spreads)


def rows_json(rows: list[Row], model: Model, seed: int, missed: list[str]) -> list[dict[str, object]]:
    """Return the rows for machines."""
    return [_json(row, model, seed, missed) for row in rows]


def _json(row: Row, model: Model, seed: int, missed: list[str]) -> dict[str, object]:
    told: dict[str, object] = {
        "schema_version": SIMULATE_VERSION,
        "group": model.group,
        "share_partitions": [{"topic_id": topic_id, "partition": number} for topic_id, number in sorted(model.offsets)],
        "records": model.records,
        "scenario": row.scenario,
        "settings": asdict(row.settings),
        "runs": row.runs,
        "seed": seed,
    }
    for name in _FIGURES:
        told[name] = _spread(row.spreads[name])
    told["start_offset_stood"] = {name: _spread(row.spreads[name]) for name in _WAITS}
    told["utilisation"] = _spread(row.spreads["utilisation"])
    told["model"] = {
        "begin_timestamp": round(model.begin_ms),
        "processing": model.processing.describe(),
        "failures": model.failures.describe(),
        "log_batch": model.log_batch,
        "unexplained_fetches": model.unexplained,
        "not_reproduced": missed,
    }
    told["assumptions"] = model.assumptions()
    return told


def _spread(spread: Spread | None) -> dict[str, float] | None:
    return None if spread is None else {name: round(value, 3) for name, value in spread._asdict().items()}


def write_table(rows: list[Row], model: Model, missed: list[str]) -> None:
    """Write the rows for people; where they do not fit, each in a block of lines."""
    console, lines = console_of_stdout(), Lines()
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name, justify in _COLUMNS:
        table.add_column(name, justify="right" if justify == "right" else "left", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row))
    if Measurement.get(console, console.options.update(max_width=UNBOUNDED), table).maximum <= console.width:
        console.print(table)
    else:
        for row in rows:
            title, *cells = _cells(row)
            names = [name.lower() for name, _ in _COLUMNS[1:]]
            lines.write(title)
            lines.write("  ".join(f"{name} {cell}" for name, cell in zip(names, cells, strict=True)), indent=2)
    lines.write(f"{model.records} records; {rows[0].settings}")
    for what, told in (("work", model.processing.describe()), ("failures", model.failures.describe())):
        lines.write(f"{what}: " + " ".join(f"{name}={value}" for name, value in told.items()), more=2)
    if model.unexplained:
        lines.write(f"{model.unexplained} recorded fetches do not fit the model, and count for nothing in it", more=2)
    if missed:
        figures = ", ".join(name.replace("_", " ").removesuffix(" ms") for name in missed)
        lines.write(f"The model does not reproduce the recording in: {figures}. Do not rely on it there.", more=2)
    lines.write("A figure is the mean of all runs, with the least and the greatest. --help and JSON say what is assumed.")


def _cells(row: Row) -> list[str]:
    counts = [_count(row.spreads[name]) for name in ("redeliveries", "lock_expiries", "archived_at_limit")]
    times = [_time(row.spreads[name], ranged=name == "drain_ms") for name in ("drain_ms", "p50_ms", "p99_ms", "longest_ms")]
    busy = row.spreads["utilisation"]
    return [row.changes, *counts, *times, "-" if busy is None else f"{busy.mean:.0%}"]


def _count(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    return f"{spread.mean:.0f}" + (f" ({spread.low:.0f}-{spread.high:.0f})" if spread.low < spread.high else "")


def _time(spread: Spread | None, *, ranged: bool) -> str:
    if spread is None:
        return "-"
    told = f"{spread.mean / 1000:.2f}s"
    return told + (f" ({spread.low / 1000:.2f}-{spread.high / 1000:.2f})" if ranged and spread.low < spread.high else "")
