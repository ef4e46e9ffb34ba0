"""Kafka's own performance tools as clients, unchanged."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from datetime import datetime

from tests.kafka.home import java, libraries

VERSION = "4.3.1"
_SHARE = "org.apache.kafka.tools.ShareConsumerPerformance"
_PLAIN = "org.apache.kafka.tools.ConsumerPerformance"
#: Format in which a tool writes an instant: 2026-11-22 20:43:53:921.
_INSTANT = "%Y-%m-%d %H:%M:%S:%f"


class ToolError(Exception):
    """The tool did not consume what it was asked for."""


@dataclass(frozen=True, slots=True)
class Consumed:
    """Result of one run of a tool.

    Attributes:
        records: how many it has consumed.
        seconds: from its start to the last record, joining included.
        joining_s: of these, those before the first record.
    """

    records: float
    seconds: float
    joining_s: float

    @property
    def rate(self) -> float:
        """Records a second from the first to the last."""
        return self.records / (self.seconds - self.joining_s)


def share_consumer(
    bootstrap: str,
    topic: str,
    group: str,
    records: int,
    *,
    threads: int = 1,
    max_poll_records: int = 500,
    cores: set[int] | None = None,
) -> Consumed:
    """Consume with ``kafka-share-consumer-perf-test``; a member reports for the first time with its first record."""
    options = ["--group", group, "--threads", str(threads), "--show-detailed-stats", "--reporting-interval", "50"]
    *details, total = _run(_SHARE, bootstrap, topic, records, max_poll_records, options, cores)
    begun, ended = _instant(total[0]), _instant(total[1])
    first = min((_instant(line[1]) for line in details if "share consumer" in line[-1]), default=begun)
    return _consumed(float(total[5]), records, ended - begun, first - begun)


def consumer(bootstrap: str, topic: str, group: str, records: int, *, cores: set[int] | None = None) -> Consumed:
    """Consume with ``kafka-consumer-perf-test``: one consumer of a consumer group, which tells how long it has joined."""
    *_, total = _run(_PLAIN, bootstrap, topic, records, 500, ["--group", group], cores)
    return _consumed(float(total[4]), records, _instant(total[1]) - _instant(total[0]), float(total[6]) / 1000)


def _run(
    tool: str, bootstrap: str, topic: str, records: int, max_poll_records: int, options: list[str], cores: set[int] | None
) -> list[list[str]]:
    """Run a tool; the lines of its report, by fields."""
    command = [
        java(), "-Xmx512m", "-XX:+UseSerialGC", "-cp", f"{libraries(VERSION)}/*", tool, "--bootstrap-server", bootstrap,
        "--topic", topic, "--num-records", str(records), "--timeout", "60000",
        "--command-property", f"max.poll.records={max_poll_records}", *options,
    ]  # fmt: skip
    pin = None if cores is None else (lambda: os.sched_setaffinity(0, cores))
    ran = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=pin)
    lines = [line.split(", ") for line in ran.stdout.splitlines() if line[:2] == "20"]
    if ran.returncode != 0 or not lines:
        raise ToolError(f"{tool} ended with {ran.returncode}: {ran.stdout[-500:]} {ran.stderr[-500:]}")
    return lines


def _instant(text: str) -> float:
    return datetime.strptime(text.strip(), _INSTANT).timestamp()  # noqa: DTZ007 - only differences count


def _consumed(records: float, wanted: int, seconds: float, joining_s: float) -> Consumed:
    if records < wanted:
        raise ToolError(f"{records:.0f} of {wanted} records were consumed")
    return Consumed(records, seconds, joining_s)
