"""The option `--as-of`: up to where a state log counts."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from share_state.cli.shared.choice import listed
from share_state.operate.analysis.names import instant
from share_state.operate.reading.as_of import AsOf

AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="P=OFFSET,…|TIME",
        help="As of earlier: the last offset that counts of each state partition P (others count as a whole), or a"
        " time, ISO 8601 (UTC if it names no zone) or ms since the epoch, from 1973 on.",
        show_default=False,
    ),
]

_OFFSETS = re.compile(r"\d+=\d+(,\d+=\d+)*", re.ASCII)
_MS = re.compile(r"-?\d+", re.ASCII)
_MOST_PARTITIONS = 2**31 - 1
_MOST_OFFSET = 2**63 - 1
#: In March 1973. A smaller number is an offset that lacks its state partition, or a time in seconds.
_FIRST_MS = 10**11
#: The end of the year 9999: a greater number is no ms, but smaller units.
_LAST_MS = 253_402_300_799_999
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_as_of(text: str | None, option: str = "--as-of") -> AsOf:
    """Take what was said with an option; without it the whole log counts."""
    if text is None:
        return AsOf()
    text = text.strip()
    if _OFFSETS.fullmatch(text):
        return AsOf(offset=_offsets(text, option))
    if _MS.fullmatch(text):
        return AsOf(timestamp=_ms(text, option))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{option} is {text!r}; expected P=OFFSET,…, a time in ISO 8601, or ms since the epoch"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return AsOf(timestamp=(moment - _EPOCH) // timedelta(milliseconds=1))


def as_of_words(text: str | None) -> str:
    """Say what an answer is about where it is about an earlier log; nothing where the whole log counts."""
    return "" if text is None else f" as of {text.strip()}"


def check_as_of(as_of: AsOf, ends: Mapping[int, int], option: str = "--as-of") -> None:
    """Refuse offsets of state partitions that there are not, or not yet; `ends` are the offsets after the last ones."""
    for state_partition, offset in as_of.offset.items() if isinstance(as_of.offset, Mapping) else ():
        said = f"{option} {state_partition}={offset}"
        if state_partition not in ends:
            raise typer.BadParameter(f"{said}: no such state partition; the log has {listed(ends)}")
        if offset >= ends[state_partition]:
            raise typer.BadParameter(f"{said}: state partition {state_partition} ends before offset {ends[state_partition]}")


def _offsets(text: str, option: str) -> dict[int, int]:
    offsets: dict[int, int] = {}
    for pair in text.split(","):
        state_partition, offset = map(int, pair.split("="))
        if state_partition in offsets:
            raise typer.BadParameter(f"{option} names state partition {state_partition} twice")
        offsets[_bounded(state_partition, _MOST_PARTITIONS, pair, option)] = _bounded(offset, _MOST_OFFSET, pair, option)
    return offsets


def _ms(text: str, option: str) -> int:
    moment = _bounded(int(text), _LAST_MS, text, option)
    if moment < _FIRST_MS:
        raise typer.BadParameter(
            f"{option} {text}: as a time it is {instant(moment)}; an offset is P=OFFSET, with the state partition P"
        )
    return moment


def _bounded(number: int, most: int, text: str, option: str) -> int:
    if not 0 <= number <= most:
        raise typer.BadParameter(f"{option} {text!r} is out of range")
    return number
