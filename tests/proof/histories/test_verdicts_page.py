"""docs/verdicts.md names every system and every fault, in the words of the tables that the runs draw from."""

from __future__ import annotations

import re

import pytest

from share_state.operate.histories import check_history
from tests.kafka.home import REPOSITORY
from tests.proof.histories import faults
from tests.proof.histories.engine import play as engine
from tests.proof.histories.systems import SYSTEMS

PAGE = REPOSITORY / "docs" / "verdicts.md"


@pytest.fixture(scope="module")
def rows() -> list[list[str]]:
    """The rows of all tables of the page."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def test_every_fault_is_told(rows: list[list[str]]) -> None:
    told = {(row[0].strip("`"), row[1]) for row in rows if len(row) == 2}
    wanted = [(name, fault.text) for table in (faults.FAULTS, engine.FAULTS) for name, fault in table.items()]
    assert len(wanted) > 20
    assert [one for one in wanted if one not in told] == []


def test_every_system_is_told_and_was_run(rows: list[list[str]]) -> None:
    described = {name for row in rows if len(row) == 2 for name in re.findall(r"`([^`]+)`", row[0])}
    run = {row[0].strip("`") for row in rows if len(row) > 2}
    assert described >= SYSTEMS.keys()
    assert run >= SYSTEMS.keys()


def test_a_system_can_have_only_faults_that_there_are() -> None:
    for system in SYSTEMS.values():
        table = engine.FAULTS if system.name == "engine" else faults.FAULTS
        assert set(system.faults) <= table.keys()
        assert system.faults


def test_the_history_of_a_broker_that_loads_shows_what_the_page_says() -> None:
    lines = (REPOSITORY / "examples" / "histories" / "loading-4.4.0.jsonl").read_bytes().splitlines(keepends=True)
    (found,) = check_history(lines).violations
    assert (found.check, found.text) == ("H5", "the start offset went back")
    assert "7,136 instead of\n10,000" in PAGE.read_text(encoding="utf-8")
    assert (b'"start_offset": 10000' in lines[-2], b'"start_offset": 7136' in lines[-1]) == (True, True)
