"""Figures in few cells: counts, ages, rates, trends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["UNKNOWN", "age", "change", "histogram", "per_second", "short", "spark"]

#: Stands where a figure is not known.
UNKNOWN: Final = "-"
_BARS: Final = "▁▂▃▄▅▆▇█"
#: From here on a count is shortened.
_LONG: Final = 100_000
_UNITS: Final = ((10**18, "E"), (10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
#: Seconds, and how many of a unit are told before the next one.
_AGES: Final = ((1, "s", 120), (60, "m", 120), (3600, "h", 48), (86_400, "d", 1 << 62))
#: The last bar of a histogram is of this many deliveries and more.
_MOST_DELIVERIES: Final = 5


def short(number: int | None) -> str:
    """Return a count in at most five cells; a negative one needs one more."""
    if number is None:
        return UNKNOWN
    size = abs(number)
    if size < _LONG:
        return str(number)
    sign = "-" if number < 0 else ""
    factor, unit = next((factor, unit) for factor, unit in _UNITS if size >= factor)
    # Rounded down: 999,999 is not a million.
    tenths = size * 10 // factor
    return f"{sign}{tenths // 10}.{tenths % 10}{unit}" if tenths < 1000 else f"{sign}{tenths // 10}{unit}"  # noqa: PLR2004  100.0


def age(ms: int | None) -> str:
    """Return a time span of so many ms in at most four cells, as long as it is below 27 years."""
    if ms is None:
        return UNKNOWN
    seconds = max(0, ms) // 1000
    return next(f"{seconds // size}{unit}" for size, unit, most in _AGES if seconds // size < most)


def per_second(records: int | None, seconds: float) -> str:
    """Return a rate in at most five cells; a rate that is not zero does not read as zero."""
    if records is None or seconds <= 0:
        return UNKNOWN
    rate = records / seconds
    if rate == 0:
        return "0"
    if rate < 0.1:  # noqa: PLR2004  the least that is told
        return "<0.1"
    return f"{rate:.1f}" if rate < 100 else short(round(rate))  # noqa: PLR2004  from here on tenths say nothing


def change(records: int | None) -> str:
    """Return by how much a figure rose or fell."""
    if records is None:
        return UNKNOWN
    if records == 0:
        return "="
    return f"{'▲' if records > 0 else '▼'}{short(abs(records))}"


def spark(figures: Sequence[int]) -> str:
    """Return a curve, a cell a figure, from zero to the greatest."""
    most = max(figures, default=0)
    return "".join(_BARS[figure * (len(_BARS) - 1) // most] if most > 0 else _BARS[0] for figure in figures)


def histogram(counts: Iterable[tuple[int, int]]) -> str:
    """Return the records by delivery count, a bar each for 1, 2, 3, 4, and 5 or more deliveries; a dot for no record.

    Args:
        counts: pairs of a delivery count and the records with it.
    """
    bars = [0] * _MOST_DELIVERIES
    for count, records in counts:
        if count > 0:
            bars[min(count, _MOST_DELIVERIES) - 1] += records
    most = max(bars)
    if most == 0:
        return UNKNOWN
    return "".join(_BARS[records * (len(_BARS) - 1) // most] if records else "·" for records in bars)
