"""Verdicts of docs/verdicts.md on Kafka's apparent defects: the quick ones are asked for again, on a real broker."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from share_state.operate.histories import check_history
from tests.kafka.home import JUDGE, REPOSITORY, VERSIONS
from tests.proof.histories.defects.playing import GATEWAY, SCENARIOS, opened, play

_PAGE: Final = REPOSITORY / "docs" / "verdicts.md"
_COLUMNS: Final = (*VERSIONS, GATEWAY)
#: Neither compaction nor a crash: each takes a second.
_QUICK: Final = ("K6", "K7", "N1")
_LINK: Final = re.compile(r"\]\((\.\./examples/[^)]+)\)(?:, (H\d))?")


def stated() -> dict[str, list[str]]:
    """The rows of the page: a defect's verdicts, and the cell with its history."""
    cells = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in _PAGE.read_text(encoding="utf-8").splitlines()]
    return {row[0]: row[2:] for row in cells if row[0] in SCENARIOS}


def test_the_page_has_every_defect_and_what_it_says_of_histories_is_so() -> None:
    rows = stated()
    assert rows.keys() == SCENARIOS.keys()
    kept = 0
    for defect, (*verdicts, history) in rows.items():
        assert len(verdicts) == len(_COLUMNS)
        assert verdicts[-1] == "not seen"
        found = _LINK.search(history)
        assert (found is not None) == ("seen" in verdicts), defect
        if found is not None:
            path = (_PAGE.parent / found[1]).resolve()
            release = path.stem.partition("-")[2]
            assert verdicts[_COLUMNS.index(release)] == "seen"
            report = check_history(path.read_bytes().splitlines(keepends=True))
            assert Counter(one.check for one in report.violations).keys() == ({found[2]} if found[2] else set()), defect
            kept += 1
    assert kept == 10


@pytest.mark.kafka
@pytest.mark.timeout(300)
@pytest.mark.parametrize("system", [JUDGE, GATEWAY])
def test_the_quick_ones_are_as_the_page_says(system: str, tmp_path: Path) -> None:
    scenarios = [SCENARIOS[defect] for defect in _QUICK]
    with opened(system, tmp_path) as server:
        found = play(server, scenarios)
    told = {one.defect: one.verdict(found[one.defect], of_kafka=system != GATEWAY) for one in scenarios}
    rows = stated()
    assert told == {defect: rows[defect][_COLUMNS.index(system)] for defect in _QUICK}, found
