"""A short run on each system, with its faults; and histories in which the recorder lies, which the checker must not believe."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from share_state.operate.histories import check_history
from tests.kafka.home import JUDGE
from tests.proof.histories.system import Line
from tests.proof.histories.systems import SYSTEMS
from tests.proof.histories.verdict import Verdict, judge
from tests.seeds import seed

Tell = Callable[[str], None]

#: Neither a restart of the broker nor a reset, which take longer than all else; the long runs have them.
_ON_BROKERS = ("kill", "stall", "cut", "abort", "step")


def short_run(name: str, seconds: float, faults: tuple[str, ...], directory: Path, tell: Tell) -> Verdict:
    """Play and check one; it was no empty one."""
    drawn = seed(7)
    tell(f"histories of {name}: seed {drawn}, {seconds:g} s, faults {','.join(faults) or 'none'}")
    history = directory / "history.jsonl"
    verdict, violations = judge(SYSTEMS[name], drawn, seconds, faults, history)
    assert not violations, "\n".join(str(violation) for violation in violations[:5])
    assert verdict.is_clean, verdict.besides
    assert all(verdict.faults[fault] > 0 for fault in faults), verdict.faults
    assert min(verdict.produced, verdict.deliveries, verdict.confirmed) > 100, verdict
    assert verdict.events > 50
    return verdict


def test_the_engine_is_killed(tmp_path: Path, tell: Tell) -> None:
    short_run("engine", 3, ("kill", "full", "step", "duplicate"), tmp_path, tell)


def test_the_gateway_is_killed(tmp_path: Path, tell: Tell) -> None:
    short_run("gateway", 4, ("kill", "restart", "cut", "duplicate", "step"), tmp_path, tell)


@pytest.mark.kafka
@pytest.mark.timeout(300)
@pytest.mark.parametrize("system", [f"kafka-{JUDGE}", "gateway-over-4.4.0"])
def test_beside_a_broker(system: str, tmp_path: Path, tell: Tell) -> None:
    short_run(system, 4, _ON_BROKERS, tmp_path, tell)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    """A history without a fault, in which nothing is found."""
    history = tmp_path_factory.mktemp("sound") / "history.jsonl"
    verdict, _ = judge(SYSTEMS["engine"], seed(7), 2, (), history)
    assert verdict.is_clean, (verdict.seed, verdict.found)
    return [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()]


def checks(lines: list[Line]) -> set[str]:
    """Checks that find something."""
    report = check_history([json.dumps(line).encode() + b"\n" for line in lines])
    return {violation.check for violation in report.violations}


def delivered_again(lines: list[Line]) -> tuple[list[int], Line]:
    """A range of one record that is released, and the next delivery of the record."""
    for at, ack in enumerate(lines):
        if ack["type"] != "ack" or ack["outcome"] != "ok":
            continue
        for released in ack["ranges"]:
            offset, last, kind = released
            for grant in lines[at:] if (offset, kind) == (last, 2) else ():
                if grant["type"] == "grant" and grant["partition"] == ack["partition"] and grant["sent"] > ack["t"]:
                    if grant["first"] <= offset <= grant["last"]:
                        return released, grant
    raise AssertionError("no record was released alone, and delivered again")


def test_an_acknowledgement_that_was_dropped_and_told_as_confirmed_is_found(sound: list[Line]) -> None:
    lines = json.loads(json.dumps(sound))
    released, _ = delivered_again(lines)
    # The member has accepted, says the recorder.
    released[2] = 1
    assert "H1" in checks(lines)


def test_a_wrong_count_is_found(sound: list[Line]) -> None:
    lines = json.loads(json.dumps(sound))
    _, grant = delivered_again(lines)
    grant["delivery_count"] -= 1
    assert "H4" in checks(lines)


def test_a_delivery_that_was_not_told_is_found(sound: list[Line]) -> None:
    """The last record produced loses all its deliveries: nobody was given it, and nobody went who might have been."""
    last = max((line for line in sound if line["type"] == "produce"), key=lambda line: line["t"])
    place = (last["partition"], last["last"])
    lines = [
        line
        for line in sound
        if line["type"] != "gone"
        and not (line["type"] == "grant" and line["partition"] == place[0] and line["first"] <= place[1] <= line["last"])
    ]
    assert len(lines) < len(sound)
    assert "H3" in checks(lines)
