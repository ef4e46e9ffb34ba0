"""Words for figures, times and names on a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from share_state.operate.analysis.names import counted_state, iso_8601, state_name
from share_state.util.printable import printable

if TYPE_CHECKING:
    from share_state.operate.analysis.history_row import HistoryRow
    from share_state.operate.live.rates import Rates

__all__ = ["FILTERS", "ago", "change", "clock", "figure", "link", "per_minute", "span"]

#: Sign for what is not known.
_UNKNOWN: Final = "–"
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
#: Below so many of a unit the smaller one tells more.
_FEW: Final = 3


def figure(value: int | None) -> str:
    """Write a number with its thousands apart."""
    return _UNKNOWN if value is None else f"{value:,}"


def clock(ms: int | None) -> str:
    """Write a time, ms since the epoch, in UTC."""
    if ms is None:
        return _UNKNOWN
    text = iso_8601(ms)
    return f"{ms} ms" if text is None else text[:19].replace("T", " ") + " UTC"


def ago(ms: int | None, now_ms: int) -> str:
    """Write how long something is ago."""
    return _UNKNOWN if ms is None else duration(max(0, now_ms - ms) / 1000)


def duration(seconds: float) -> str:
    """Write how long something takes, in the unit that says enough."""
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= _FEW * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} s"


def later(ms: int) -> str:
    """Write how much later something is; clocks of different machines may differ."""
    seconds = abs(ms) / 1000
    return ("+" if ms >= 0 else "-") + (f"{seconds:.1f} s" if seconds < _MINUTE else duration(seconds))


def span(first: int | None, last: int | None) -> str:
    """Write an interval of offsets."""
    if first is None or last is None:
        return ""
    return figure(first) if first == last else f"{figure(first)} – {figure(last)}"


def change(row: HistoryRow) -> str:
    """Write what a row of a history says of its offsets, or of the share partition."""
    if row.first_offset is None:
        return f"start offset {figure(row.start_offset)}, leader epoch {row.leader_epoch}"
    before, after = (
        "unknown" if state is None or count is None else counted_state(state, count)
        for state, count in ((row.from_state, row.from_count), (row.to_state, row.to_count))
    )
    return f"{before} → {after}"


def per_minute(rates: Rates | None, name: str) -> int | None:
    """Give a rate as records a minute; None where there are no two moments to compare."""
    if rates is None or rates.seconds <= 0:
        return None
    records: int = getattr(rates, name)
    return round(records * _MINUTE / rates.seconds)


def link(path: str, asked: Mapping[str, object] | None = None, **changed: object) -> str:
    """Write a relative address; what is empty or not given is left out."""
    values = {name: value for name, value in {**(asked or {}), **changed}.items() if value not in {"", None}}
    return f"{path}?{urlencode(values)}" if values else path


#: For templates.
FILTERS: Final = {
    "ago": ago,
    "change": change,
    "clock": clock,
    "duration": duration,
    "figure": figure,
    "later": later,
    "iso": lambda ms: iso_8601(ms) or "",
    "printable": printable,
    "state_name": state_name,
}
