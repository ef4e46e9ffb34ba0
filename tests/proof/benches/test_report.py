"""The report has every row and every target, met, missed, wrong or not measured."""

import json
from pathlib import Path
from typing import Any

from benches import guard, headline, measure, report
from benches.plan import DURABILITIES, HEADLINES, ROWS, TAIL_LIMIT, TAIL_ROWS, TARGETS, Row
from benches.programs import COLUMNAR, KAFKA, SCALAR, TREE

ENVIRONMENT = {
    "measured": "2026-01-02T03:04:05+00:00",
    "load": 0.5,
    "cpus": 2,
    "cpu": "a processor",
    "kafka": "4.4.0",
    "rust": "rustc",
    "python": "3",
    "commit": "abc",
}


def result(row: Row, engines: dict[str, Any]) -> dict[str, Any]:
    return {
        "row": row.name,
        "workload": row.workload,
        "size": row.size,
        "elements": 1,
        "durability": row.durability,
        "command": f"python -m benches.run {row.workload} --size {row.size}",
        "engines": engines,
        "environment": ENVIRONMENT,
    }


def timed(ns: float, **more: Any) -> dict[str, Any]:
    return {"ns": ns, "spread": 0.1, "rounds_ns": [1, 2], "processes": [{"rounds_ns": [1, 2]}], "writes": 1, "bytes": 72, **more}


def page(results: list[dict[str, Any]]) -> str:
    return "\n".join(report.lines({result["row"]: result for result in results}, []))


def targets(text: str) -> list[str]:
    before, _, _ = text.partition("## What stands in the way")
    return [line for line in before.splitlines() if line.startswith("| ") and "to reach" not in line]


def test_every_target_stands_there_though_nothing_was_measured() -> None:
    rows = targets(page([]))
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [target.text for target in TARGETS]
    assert all(row.endswith("| not measured |") for row in rows)


def test_the_front_page_shows_the_results_that_are_kept() -> None:
    shown = (report.REPOSITORY / "README.md").read_text(encoding="utf-8")
    kept = report.read(report.REPOSITORY / "benches" / "results")
    expected = "\n".join(headline.lines(kept))
    assert f"<!-- benchmarks -->\n{expected}\n<!-- end of benchmarks -->" in shown
    assert len(expected.splitlines()) <= 20


def test_every_target_names_a_row_of_the_plan() -> None:
    names = {row.name for row in ROWS}
    assert {target.row for target in TARGETS} | {target.base for target in TARGETS if target.base} <= names
    assert set(TAIL_ROWS) <= names
    assert len({row.workload.partition("-")[0] for row in ROWS if row.workload.startswith("W")}) == 16
    assert len(names) == len(ROWS)


def test_every_row_of_the_plan_is_in_the_page() -> None:
    text = page([result(row, {engine: timed(100.0) for engine in row.engines}) for row in ROWS])
    for row in ROWS:
        section = text.split(f"### {row.workload}\n")[1].split("\n### ")[0]
        way = f"; {DURABILITIES[row.durability]}" if row.durability else ""
        shown = [line for line in section.splitlines() if line.startswith(f"| {row.size:,}{way} |")]
        assert len(shown) == len(row.engines), row.name


def test_a_target_is_met_missed_or_wrong() -> None:
    row = next(row for row in ROWS if row.name == "W1-500")
    by_us = {SCALAR: timed(300.0), COLUMNAR: timed(100.0)}
    met = page([result(row, {KAFKA: timed(1_000.0), TREE: timed(99.0), **by_us})])
    missed = page([result(row, {KAFKA: timed(1_000.0), TREE: timed(101.0), **by_us})])
    wrong = page([result(row, {KAFKA: timed(1_000.0), TREE: {"wrong": True, "digest": "0"}, **by_us})])
    assert "| 10× / 3× / 10× | 1 µs | 99 ns, 10× | 300 ns, 3.3× | 100 ns, 10× | met |" in met
    assert targets(missed)[0].endswith("| met by scalar, columnar; MISSED by Rust |")
    assert targets(wrong)[0].endswith("| met by scalar, columnar; MISSED by Rust |")
    assert "| WRONG |" in targets(wrong)[0]


def test_a_peer_that_was_given_up_has_no_time_and_no_ratio() -> None:
    """The time of a cold JVM up to that point says nothing of Kafka; results of older runs still have it."""
    row = next(row for row in ROWS if row.name == "W1-500")
    kafka = {"stopped": 7, "at_least_ns": 1_000.0, "timed_so_far_ns": 1_000}
    text = page([result(row, {KAFKA: kafka, TREE: timed(50.0), SCALAR: timed(300.0), COLUMNAR: timed(100.0)})])
    assert targets(text)[0].endswith("| stopped | 50 ns | 300 ns | 100 ns | not measured |")
    section = text.split("### W1\n")[1].split("\n### ")[0]
    assert "| 500 | share_state, Rust | 50 ns |  | 20,000,000 |" in section
    assert "| 500 | Kafka 4.4.0 |  |  |  |  |  |  | stopped after the time limit at operation 7 |" in section
    assert ">" not in text


def test_the_quick_run_gives_kafka_the_time_of_the_full_one_for_a_first_replay() -> None:
    quick, full = measure.effort(quick=True, limit_s=None), measure.effort(quick=False, limit_s=None)
    assert quick.processes < full.processes
    assert quick.limit_s == full.limit_s
    assert measure.effort(quick=True, limit_s=7).limit_s == 7


def test_a_target_that_is_missed_says_what_stands_in_the_way() -> None:
    row = next(row for row in ROWS if row.name == "W1-500")
    by_us = {SCALAR: timed(300.0), COLUMNAR: timed(100.0)}
    engines = {KAFKA: timed(1_000.0), TREE: timed(101.0), **by_us}
    _, _, limits = page([result(row, engines)]).partition("## What stands in the way\n\n")
    target = TARGETS[0]
    assert limits.splitlines()[0] == f"- **{target.text}**, missed by Rust. {target.limit}"
    assert "Nothing: every target" in page([result(row, {**engines, TREE: timed(100.0)})])


def test_every_target_that_the_kept_results_miss_has_its_reason() -> None:
    kept = report.read(report.REPOSITORY / "benches" / "results")
    rows = targets("\n".join(report.lines(kept, [])))
    missed = [target for target, row in zip(TARGETS, rows, strict=True) if "MISSED" in row]
    assert [target.text for target in missed if not target.limit] == []


def test_growth_is_ours_against_ours() -> None:
    small, large = (next(row for row in ROWS if row.name == name) for name in ("W4-10000", "W4-10000000"))
    text = page([result(small, {TREE: timed(100.0)}), result(large, {TREE: timed(250.0)})])
    found = next(row for row in targets(text) if row.startswith("| W4 at 10^7"))
    assert "250 ns, 2.5×" in found
    assert found.endswith("| met |")


def test_what_stopped_or_could_not_run_is_said() -> None:
    row = next(row for row in ROWS if row.name == "W4-1000000")
    text = page([result(row, {KAFKA: {"stopped": 1_234}, TREE: timed(1.0), SCALAR: {"stopped_at_size": 10}})])
    assert "stopped after the time limit at operation 1,234" in text
    assert "stopped at 10" in text
    assert "could not run" in page([result(row, {KAFKA: {"missing": True}})])


def test_the_tail_of_each_operation_is_held_to_its_target() -> None:
    tail = {"count": 10, "p50": 100, "p99": 200, "p9999": 99_000, "max": 1_000_000}
    slow = tail | {"p9999": 101_000}
    tails = {"acknowledge": tail, "acquire": slow, "tick": slow}
    text = page([result(row, {TREE: timed(1.0, tails=tails), KAFKA: timed(1.0, tails=tails)}) for row in ROWS])
    rows = [line for line in text.splitlines() if "share_state, Rust | 10 |" in line]
    assert len(rows) == 3 * len(TAIL_ROWS)
    assert [row.rsplit("|", 2)[1].strip() for row in rows[:3]] == ["met", "MISSED", "MISSED"]
    # What ends everything at once is not held to it, and Kafka is not either.
    assert [row.split("|")[1].strip() for row in rows if row.endswith("|  |") and "tick" in row] == ["W7-1000000"]
    assert all(line.endswith("|  |") for line in text.splitlines() if "Kafka 4.4.0 | 10 |" in line)
    assert TAIL_LIMIT in text
    assert TAIL_LIMIT not in page([])


def test_the_quick_run_is_a_part_of_the_plan() -> None:
    quick = measure.rows(quick=True, only="")
    assert {row.name for row in quick} <= {row.name for row in ROWS}
    assert len(quick) >= 15
    assert {row.workload for row in measure.rows(quick=False, only="W4,W5")} == {"W4", "W5"}


def test_the_front_page_has_one_small_table() -> None:
    rows = [row for row in ROWS if row.name in HEADLINES]
    engines = {KAFKA: timed(1_000.0), TREE: timed(10.0), SCALAR: timed(100.0), COLUMNAR: {"stopped": 7}}
    shown = headline.lines({row.name: result(row, engines) for row in rows})
    cells = "| 1 µs | 10 ns, 100× | 100 ns, 10× | stopped |"
    assert [line for line in shown if line.endswith(cells)] == [f"| {about} {cells}" for about in HEADLINES.values()]
    assert any("sync" in about for about in HEADLINES.values())


def test_a_headline_without_kafka_has_no_ratio() -> None:
    row = next(row for row in ROWS if row.name == "W1-durable-500-always")
    found = headline.lines({row.name: result(row, {KAFKA: {"missing": True}, TREE: timed(10.0)})})
    assert f"| {HEADLINES[row.name]} |  | 10 ns |  |  |" in found


def test_headlines_without_a_figure_are_one_sentence() -> None:
    row = next(row for row in ROWS if row.name == "W1-500")
    for results in ({}, {row.name: result(row, {TREE: {"untold": "not measured again"}})}):
        [sentence] = headline.lines(results)
        assert "`make bench` measures them" in sentence


def test_every_headline_names_a_row_of_the_plan() -> None:
    assert set(HEADLINES) <= {row.name for row in ROWS}


def test_results_are_read_back(tmp_path: Path) -> None:
    made = result(ROWS[0], {TREE: timed(1.0)})
    (tmp_path / "row.json").write_text(json.dumps(made), encoding="utf-8")
    assert report.read(tmp_path) == {ROWS[0].name: made}


def test_the_guard_tells_what_has_grown() -> None:
    lines, wrong = guard.compare({"a": 100, "b": 100, "c": 1}, {"a": 109, "b": 111, "d": 5})
    assert len(lines) == 2
    assert wrong == [
        "b needs 11.0% more instructions than recorded",
        "d is not recorded",
        "c was recorded and is not there any more",
    ]


def test_a_busy_machine_is_said_first() -> None:
    quiet = result(ROWS[0], {TREE: timed(1.0)})
    busy = quiet | {"environment": ENVIRONMENT | {"load": 4.5}}
    assert "busy" not in page([quiet])
    assert page([busy]).splitlines()[2].startswith("**The machine was busy")
