"""Part of a tool's output that has to be equal: ids, addresses and times are masked, rows that have no order are sorted."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import Any

_MASKS = (
    # Longest first: the parts of one are like another.
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[:.,]\d{3}Z?"), "TIME"),
    # As long as the name of an exception can be.
    (re.compile(r"(?<![\w-])(?!\w*Exception\b)[\w-]{22}(?![\w-])"), "UUID"),
    (re.compile(r"/?\b127\.0\.0\.1:\d+\s+(?:\(\d+\))"), "HOST:PORT (NODE)"),
    (re.compile(r"/?\b127\.0\.0\.1:\d+\b"), "HOST:PORT"),
    (re.compile(r"/127\.0\.0\.1\b"), "HOST"),
    # Clients are counted in their JVM.
    (re.compile(r"\bconsumer-([\w-]+)-\d+\b"), r"consumer-\1-N"),
)
#: Names that a tool lists in the order of a hash table.
_NAMES = re.compile(r"\((?:'[^']*'(?:, )?)+\)")
#: Lines of standard error without interest: where it was thrown, and that the logging library has nothing to write to.
_NOISE = re.compile(r"SLF4J: |\s+at |\s+\.\.\. \d+ more")
#: In a row of kafka-share-consumer-perf-test: how many records it was.
_PERF_COUNT = 5


def masked(tool: str, out: str, err: str = "") -> list[str]:
    """The lines that count of a tool's standard output, and those of its standard error after a ``!``."""
    complaints = [f"! {_mask(line)}" for line in err.splitlines() if line.strip() and not _NOISE.match(line)]
    return _printed(tool, out) + complaints


def _printed(tool: str, out: str) -> list[str]:
    if tool == "kafka-verifiable-share-consumer":
        return _verifiable(out)
    if tool == "kafka-share-consumer-perf-test":
        return [_perf(line) for line in out.splitlines() if line.strip()]
    blocks = re.split(r"\n\s*\n", _mask(out))
    return [line for block in blocks for line in _block(tool, block)]


def _mask(text: str) -> str:
    for pattern, name in _MASKS:
        text = pattern.sub(name, text)
    return _NAMES.sub(lambda found: f"({', '.join(sorted(found[0][1:-1].split(', ')))})", text)


def _block(tool: str, block: str) -> list[str]:
    """A table's head, then its rows, sorted: the tools walk hash tables."""
    lines = [" ".join(line.split()) for line in block.splitlines() if line.strip()]
    if tool == "kafka-console-share-consumer":
        # Partitions come in any order, the records of one in theirs: the values begin with it.
        return sorted(lines, key=lambda line: line.partition("-")[0])
    head = 1 if lines and lines[0].split()[0].isupper() else 0
    return lines[:head] + sorted(lines[head:])


def _verifiable(out: str) -> list[str]:
    """Numbers of records consumed and acknowledged, whatever the number of polls."""
    events: list[str] = []
    consumed: dict[str, set[int]] = defaultdict(set)
    acknowledged = failed = 0
    for line in out.splitlines():
        event: dict[str, Any] = json.loads(line)
        event.pop("timestamp")
        if event["name"] == "records_consumed":
            for one in event["partitions"]:
                consumed[f"{one['topic']}-{one['partition']}"] |= set(one["offsets"])
        elif event["name"] == "offsets_acknowledged":
            if event["success"]:
                acknowledged += event["count"]
            else:
                failed += event["count"]
        else:
            events.append(json.dumps(event, sort_keys=True))
    offsets = {place: sorted(found) for place, found in sorted(consumed.items())}
    return [*events, f"consumed {offsets}", f"acknowledged {acknowledged}, failed {failed}"]


def _perf(line: str) -> str:
    cells = _mask(line).split(", ")
    if len(cells) <= _PERF_COUNT or cells[0] != "TIME":
        return _mask(line)
    return f"consumed {cells[_PERF_COUNT]}"
