"""Facts that a state topic does not hold and anomalies may need: log end offsets, and the existing topics.

The lines of a file and the JSON of an option are the same rows; they are checked here, once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from share_state import _core
from share_state.operate.analysis.anomaly import AnomalyConfig
from share_state.operate.analysis.search import LogEndOffsets
from share_state.operate.analysis.topic_id import hyphenated

__all__ = ["ROW", "as_json", "live_topics", "log_end_offsets", "parse_live_topics", "parse_log_end_offsets"]

#: A measurement of a log end offset; the time is ms since the epoch.
ROW = "TOPIC_ID,PARTITION,MS,LOG_END_OFFSET"
_NUMBER = re.compile(r"\s*-?[0-9]+\s*", re.ASCII)


def log_end_offsets(rows: Iterable[Sequence[object]]) -> LogEndOffsets:
    """Read measurements, a row each, in any order; a topic id may be in base64, as Kafka's tools show it.

    Raises a ``ValueError`` that names the first invalid row, or the invalid topic id or number in it.
    """
    told: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for place, row in enumerate(rows, start=1):
        match row:
            case [str(topic_id), partition, ms, end]:
                where = hyphenated(topic_id.strip()), _number(place, partition, bits=32)
                told.setdefault(where, []).append((_number(place, ms), _number(place, end)))
            case _:
                raise ValueError(f"row {place} is {row!r}; expected {ROW}")
    _check(told, None)
    return told


def live_topics(ids: Iterable[object]) -> tuple[str, ...]:
    """Read the ids of all existing topics, as UUID or base64.

    Raises a ``ValueError`` that names the first invalid one.
    """
    told = []
    for place, one in enumerate(ids, start=1):
        if not isinstance(one, str):
            raise ValueError(f"row {place} is {one!r}; expected a topic id")  # noqa: TRY004  what the text says, not a caller's mistake
        told.append(hyphenated(one.strip()))
    _check(None, told)
    return tuple(told)


def parse_log_end_offsets(text: str) -> LogEndOffsets:
    """Read measurements from a JSON array of rows; an empty one is a mapping without a topic. Raises as the rows do."""
    return log_end_offsets(_array(text))


def parse_live_topics(text: str) -> tuple[str, ...]:
    """Read topic ids from a JSON array. Raises as the ids do."""
    return live_topics(_array(text))


def as_json(told: LogEndOffsets | Sequence[str]) -> str:
    """Write what the two parsers read."""
    if isinstance(told, Sequence):
        return json.dumps(list(told))
    return json.dumps([[*where, *sample] for where, samples in told.items() for sample in samples])


def _array(text: str) -> list[list[object]]:
    value = json.loads(text)
    if not isinstance(value, list):
        raise ValueError("expected a JSON array")  # noqa: TRY004  as above
    return value


def _number(place: int, value: object, *, bits: int = 64) -> int:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"row {place} is {value!r}; expected a whole number")  # noqa: TRY004  as above
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(f"row {place} is {value}; expected a number of {bits} bits")
    return value


def _check(told: LogEndOffsets | None, topics: Sequence[str] | None) -> None:
    """Let the finder refuse what it would refuse later: topic ids that are none."""
    _core.AnomalyFinder(AnomalyConfig(), log_end_offsets=told, live_topics=topics)
