"""Kafka's own tools, and what they print as plain data."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tests.kafka.broker import Broker
from tests.kafka.home import TOOLS, java, libraries

_DUMPING = re.compile(r"Dumping (?P<file>.+)")
_BATCH = re.compile(r"baseOffset: .* compresscodec: (?P<codec>\S+) .* isvalid: (?P<valid>\S+)")
_RECORD = re.compile(
    r"\| offset: (?P<offset>\d+) CreateTime: (?P<timestamp>-?\d+) .*? key: (?P<key>\{.*\}) payload: (?P<payload>\{.*\}|<DELETE>)"
)
_COUNTED_FROM_THE_START = re.compile(r"Non-consecutive offsets in .*/0*([1-9]\d*)\.log\n  -1 is followed by \1(?:\n|$)")
#: A tombstone's payload, as the tool writes it.
_DELETE = "<DELETE>"


class Dump(NamedTuple):
    """Findings of DumpLogSegments: records in the shape of ``share-state dump``, and the codecs of the batches."""

    records: list[dict[str, Any]]
    codecs: set[str]


def dump_log(directory: Path) -> Dump:
    """Run DumpLogSegments over every segment of the state topic; whatever it complains of is a failure."""
    return _dump(directory.glob("__share_group_state-*/*.log"), "--share-group-state-decoder")


def dump_groups(directory: Path) -> Dump:
    """Run DumpLogSegments over every segment of the group coordinator's topic; whatever it complains of is a failure."""
    return _dump(directory.glob("__consumer_offsets-*/*.log"), "--offsets-decoder")


def _dump(found_segments: Iterable[Path], decoder: str) -> Dump:
    segments = sorted(found_segments, key=lambda path: (partition_of(path.parent), path.name))
    assert segments
    ran = subprocess.run(
        [
            java(), "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{libraries(TOOLS)}/*",
            "org.apache.kafka.tools.DumpLogSegments", decoder, "--print-data-log", "--deep-iteration",
            "--files", ",".join(map(str, segments)),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # The logging library says that it has nothing to write to, and the tool starts to count at -1 in every segment.
    said = "\n".join(line for line in ran.stderr.splitlines() if not line.startswith("SLF4J: "))
    assert not _COUNTED_FROM_THE_START.sub("", said), said
    dump = Dump([], set())
    segment = Path()
    for line in ran.stdout.splitlines():
        if found := _RECORD.fullmatch(line):
            dump.records.append(_record(segment, found))
        elif found := _BATCH.fullmatch(line):
            assert found["valid"] == "true", line
            dump.codecs.add(found["codec"])
        elif found := _DUMPING.fullmatch(line):
            segment = Path(found["file"])
        else:
            assert line.startswith("Log starting offset: "), f"a complaint of the tool: {line}"
    return dump


def share_groups(broker: Broker, *arguments: str) -> str:
    """Run kafka-share-groups."""
    return broker.tool(
        "org.apache.kafka.tools.consumer.group.ShareGroupCommand", "--bootstrap-server", broker.bootstrap, *arguments
    )


def wait_until_empty(broker: Broker, group: str, seconds: float = 60.0) -> None:
    """Wait until the broker has missed the last member of a group: one that was killed is a member until its session ends."""
    until = time.monotonic() + seconds
    while not any(
        row[0] == group and row[-2:] == ["Empty", "0"]
        for line in share_groups(broker, "--describe", "--group", group, "--state").splitlines()
        if (row := line.split())
    ):
        assert time.monotonic() < until, f"group {group} still has members after {seconds} s"


def described(broker: Broker, group: str) -> dict[tuple[str, int], tuple[str, str]]:
    """Start offset and lag of every share partition of a group, as kafka-share-groups shows them."""
    rows = [line.split() for line in share_groups(broker, "--describe", "--group", group, "--offsets").splitlines()]
    return {(row[1], int(row[2])): (row[3], row[4]) for row in rows if len(row) == 5 and row[0] == group}


def partition_of(folder: Path) -> int:
    """The number in ``__share_group_state-N``."""
    return int(folder.name.rpartition("-")[2])


def _record(segment: Path, found: re.Match[str]) -> dict[str, Any]:
    return {
        "partition": partition_of(segment.parent),
        "segment": segment.name,
        "offset": int(found["offset"]),
        "timestamp": int(found["timestamp"]),
        "key": json.loads(found["key"]),
        "value": None if found["payload"] == _DELETE else json.loads(found["payload"]),
    }
