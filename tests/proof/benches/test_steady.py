"""Rounds count from where the compiler is quiet and they agree, and no page has a ratio of others."""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING, Any

import pytest

from benches import environment, measure, programs, report, run, steady
from benches.plan import FIRST, OURS, ROWS, Row
from benches.programs import KAFKA, TREE, EngineFailedError
from benches.steady import PUBLISHED, ROUND_NS, WINDOW, Effort, Round, is_steady, published

if TYPE_CHECKING:
    from pathlib import Path

#: Kafka's rounds of 859, 703, 94, 90 and 90 ms, of which a page once made a ratio.
WARMING = [859.0, 703.0, 94.0, 90.0, 90.0]


def rounds(*ns: float, compiling_ms: float = 0.0) -> list[Round]:
    return [Round(one, 0.3, compiling_ms) for one in ns]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (rounds(*[90.0] * 10), True),
        (rounds(*WARMING, *[90.0] * 8), True),
        (rounds(*[90.0] * 9), False),
        (rounds(*[90.0] * 8, *WARMING), False),
        (rounds(*[90.0] * 9, 100.0), False),
        (rounds(*[96.0] * 5, *[90.0] * 5), False),
        (rounds(*[90.0] * 10, compiling_ms=30.0), False),
        (rounds(*[90.0] * 10, compiling_ms=2.0), True),
    ],
    ids=["level", "warmed up", "few", "warming", "one slow", "a step", "compiling", "hardly compiling"],
)
def test_the_last_rounds_agree_and_nothing_has_changed(found: list[Round], expected: bool) -> None:
    assert is_steady(found) is expected


class Told:
    """A process whose replays take what is told; the last time stays."""

    def __init__(self, *ns: int, compiling_ms: float = 0.0) -> None:
        self.ns, self.asked, self.compiling_ms = list(ns), 0, compiling_ms

    def ask(self, what: str, times: int) -> dict[str, Any]:
        assert what == "replays"
        self.asked += 1
        one = self.ns.pop(0) if len(self.ns) > 1 else self.ns[0]
        return {"ns": one * times, "compiling_ms": self.compiling_ms, "commits": 7}


def test_a_process_is_asked_until_it_is_steady() -> None:
    told = Told(*[ROUND_NS * 8, ROUND_NS * 3], ROUND_NS)
    found = steady.rounds(told, 3600)  # type: ignore[arg-type]
    assert found["steady"]
    assert (found["rounds_ns"], found["rounds_before"]) == ([ROUND_NS] * WINDOW, told.asked - WINDOW)
    assert told.asked == 2 * WINDOW
    assert found["commits"] == 7


def test_a_round_has_replays_enough() -> None:
    found = steady.rounds(Told(ROUND_NS // 1000), 3600)  # type: ignore[arg-type]
    assert found["replays_a_round"] >= 1000
    assert set(found["rounds_ns"]) == {ROUND_NS // 1000}


def test_a_process_that_never_is_steady_is_given_up() -> None:
    found = steady.rounds(Told(ROUND_NS, compiling_ms=1000.0), 0)  # type: ignore[arg-type]
    assert not found["steady"]
    assert len(found["rounds_ns"]) == 3


def test_a_figure_is_the_median_over_processes() -> None:
    processes = [{"rounds_ns": spent} for spent in ([100, 110, 120], [90, 100, 110], [120, 130, 125])]
    found = steady.figures(processes, 10)
    assert found["ns"] == 11.0
    assert found["spread"] == pytest.approx(130 / 90 - 1)
    assert published(found)["untold"] == "not steady"
    assert "ns" not in published(found)
    near = steady.figures([processes[0], {"rounds_ns": [100, 125, 110]}], 10)
    assert published(near) == near


def test_what_nobody_looked_at_has_no_time() -> None:
    old = {"ns": 90.0, "spread": 0.01, "rounds_ns": [90, 90], "processes": 5}
    assert published(old)["untold"] == "not measured again"
    assert "ns" not in published(old)
    assert published({"stopped": 7}) == {"stopped": 7}


KEPT = sorted(
    path
    for path in (report.REPOSITORY / "benches" / "results").glob("*.json")
    if not path.name.startswith(("spark-", "gateway-"))
)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_no_published_time_stands_on_rounds_that_lie_apart(path: Path) -> None:
    result = json.loads(path.read_text(encoding="utf-8"))
    for engine, found in result["engines"].items():
        shown = published(found)
        if "ns" not in shown:
            continue
        processes = [one["rounds_ns"] for one in shown["processes"]]
        timed = [spent for one in processes for spent in one]
        assert max(timed) <= (1 + PUBLISHED) * min(timed), f"{engine}: rounds lie more than a quarter apart"
        assert found["rounds_ns"] == timed, engine
        assert found["ns"] * result["elements"] == pytest.approx(statistics.median(map(statistics.median, processes))), engine
        assert len(processes) >= (3 if engine in (KAFKA, *OURS) else 1), engine


def test_no_page_has_a_ratio_of_what_is_not_published() -> None:
    """The row of the issue: two of Kafka's timed rounds take eight times as long as the others."""
    row = next(row for row in ROWS if row.name == "W1-500")
    kafka = {"ns": 90.0, "spread": 8.2, "rounds_ns": WARMING, "processes": [{"rounds_ns": WARMING}], "writes": 1, "bytes": 1}
    ours = kafka | {"ns": 10.0, "spread": 0.0, "rounds_ns": [10.0], "processes": [{"rounds_ns": [10.0]}]}
    result = {
        "row": row.name,
        "workload": row.workload,
        "size": row.size,
        "command": "",
        "engines": {KAFKA: published(kafka), TREE: published(ours)},
        "environment": {"measured": "2026-01-02T03:04", "load": 0.1, "cpus": 2, "cpu": "", "kafka": "", "commit": "a"},
    }
    page = report.lines({row.name: result}, [])
    assert any(line.endswith("| not steady | 10 ns |  |  | not steady |") for line in page)
    assert not any("9×" in line for line in page)


class Stopped(Exception):
    pass


def test_a_run_that_was_stopped_goes_on_with_the_next_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = Row("W1", 500, (KAFKA, TREE))
    begun: list[str] = []
    stop_at = 4

    def measured(*asked: Any) -> dict[str, Any]:
        begun.append(asked[3])
        if len(begun) == stop_at:
            raise Stopped
        return {"digest": "1", "stopped": None, "writes": 1, "bytes": 1, "timed": {"rounds_ns": [len(begun)]}}

    def generate(*_: object, **__: object) -> Path:
        (log := tmp_path / "log").touch()
        return log

    monkeypatch.setattr(run, "PROCESSES", tmp_path / "processes")
    monkeypatch.setattr(run, "_measured", measured)
    monkeypatch.setattr(run, "_elements", lambda _: 1)
    monkeypatch.setattr(programs, "generate", generate)
    monkeypatch.setattr(programs, "has", lambda _: True)
    monkeypatch.setattr(environment, "changes", lambda: "")
    monkeypatch.setattr(environment, "read", dict)
    with pytest.raises(Stopped):
        run.measure(row, Effort())
    assert begun == [KAFKA, TREE, KAFKA, TREE]
    engines = run.measure(row, Effort())["engines"]
    assert begun[4:] == [TREE, KAFKA, TREE]
    assert engines[KAFKA]["rounds_ns"] == [1, 3, 6]
    assert engines[TREE]["rounds_ns"] == [2, 5, 7]
    assert not list((tmp_path / "processes").rglob("*.json")), "a row that is complete is begun anew"


def test_a_process_that_ends_without_an_answer_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho no such log >&2\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(programs, "rust", lambda _: program)
    with pytest.raises(EngineFailedError, match=r"(?s)exit status 3.*no such log"), programs.running(tmp_path / "log", TREE, 1):
        pass


def test_what_is_measured_is_left_alone_and_what_was_not_steady_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "code", lambda: "abc")
    planned = [row for row in ROWS if row.name in ("W1-1", "W1-500", "W2-500", "W5-1000", "W3-10")]

    def keep(name: str, commit: str, *, apart: float = 0.0, processes: Any = ()) -> None:
        found = {"ns": 1.0, "spread": apart, "processes": list(processes) if processes != 5 else 5}
        result = {"engines": {KAFKA: found}, "environment": {"commit": commit}}
        (tmp_path / f"{name}.json").write_text(json.dumps(result), encoding="utf-8")

    keep("W1-1", "abc", apart=0.3)
    keep("W1-500", "abc")
    keep("W2-500", "abd")
    keep("W5-1000", "abc", processes=5)

    def names(*, missing: bool) -> list[str]:
        return [row.name for row in measure.left(planned, tmp_path, missing=missing)]

    assert names(missing=False) == ["W3-10", "W2-500", "W5-1000", "W1-1"]
    assert names(missing=True) == ["W3-10", "W5-1000", "W1-1"]


def test_the_first_rows_are_of_the_plan() -> None:
    assert set(FIRST) <= {row.name for row in ROWS}
