"""Output of tools: what differs is found unless it is known, and what never counts is masked."""

from __future__ import annotations

import pytest

from tests.gateway.tools.compare import Known, Step, differences
from tests.gateway.tools.mask import masked


def test_a_difference_is_found_unless_it_is_known() -> None:
    real = [Step("list", 0, ["a", "b"]), Step("describe", 0, ["x"])]
    other = [Step("list", 0, ["a", "c", "d"]), Step("describe", 1, ["x"])]
    first, second = differences(real, other)
    assert (first.command, first.real, first.other) == ("list", ["b"], ["c", "d"])
    assert (second.command, second.real, second.other) == ("describe", ["exit 0"], ["exit 1"])
    known = [
        Known("^list", "^b$", "^c$", "renamed"),
        Known("^list", None, "^d$", "added"),
        Known("^desc", "exit", "exit", "code"),
    ]
    assert not differences(real, other, known)
    assert len(differences(real, other, known[:2])) == 1


MEMBERS = """
GROUP  CONSUMER-ID            HOST        CLIENT-ID
g2     Q9kqvP2_SxCr52SV6iP5jA /127.0.0.1  c
g1     x
"""
PERF = """start.time, end.time
2026-11-22 18:22:36:386, 2026-11-22 18:22:39:420, 0.1, 0.2, 0.3, 40, 3034
"""
VERIFIABLE = """{"timestamp":1,"name":"startup_complete"}
{"timestamp":2,"name":"records_consumed","count":1,"partitions":[{"topic":"t","partition":0,"offsets":[1]}]}
{"timestamp":2,"name":"records_consumed","count":1,"partitions":[{"topic":"t","partition":0,"offsets":[0]}]}
{"timestamp":3,"name":"offsets_acknowledged","count":2,"success":true}
"""


@pytest.mark.parametrize(
    ("tool", "out", "lines"),
    [
        ("kafka-share-groups", MEMBERS, ["GROUP CONSUMER-ID HOST CLIENT-ID", "g1 x", "g2 UUID HOST c"]),
        ("kafka-share-groups", "by GroupNotEmptyException ('b', 'a')", ["by GroupNotEmptyException ('a', 'b')"]),
        ("kafka-share-groups", "g 127.0.0.1:34113  (1)      Stable", ["g HOST:PORT (NODE) Stable"]),
        ("kafka-console-share-consumer", "1-0\n0-1\n0-0\n", ["0-1", "0-0", "1-0"]),
        ("kafka-share-consumer-perf-test", PERF, ["start.time, end.time", "consumed 40"]),
        (
            "kafka-verifiable-share-consumer",
            VERIFIABLE,
            ['{"name": "startup_complete"}', "consumed {'t-0': [0, 1]}", "acknowledged 2, failed 0"],
        ),
    ],
)
def test_what_is_masked(tool: str, out: str, lines: list[str]) -> None:
    assert masked(tool, out) == lines


def test_of_standard_error_the_message_counts() -> None:
    err = "SLF4J: nothing\nError of 127.0.0.1:9092\n\tat kafka.Main(Main.java:1)\nCaused by: x\n\t... 3 more\n"
    assert masked("kafka-configs", "", err) == ["! Error of HOST:PORT", "! Caused by: x"]
