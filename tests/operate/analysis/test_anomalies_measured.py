"""Precision of the anomalies, measured by the notes of the recorded clients; the page holds the figures.

``UPDATE_DOCS=1`` writes them to the page.
"""

import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from share_state import RecordState
from share_state.operate import analysis
from share_state.operate.analysis import AnomalyConfig, AnomalyKind
from tests.operate.analysis.noted_by_clients import Notes, Place, accused, noted, undecided
from tests.recordings import REPOSITORY, SHARED, recording_id, shared_is_required

PAGE = REPOSITORY / "docs" / "history-and-anomalies.md"
#: The recordings whose figures stand on the page; of another only the bounds below are asked.
PUBLISHED = ("jobs-4.4.0", "orders-4.4.0")
_AT_LIMIT = (AnomalyKind.ARCHIVE_BURST, AnomalyKind.POISON_RECORD, AnomalyKind.LATE_OR_POISON, AnomalyKind.LOCK_EXPIRY_LOOP)
_BY_NOTES = ("poison", "accepted", "neither")


def clients() -> list[Path]:
    return sorted(path.parent for path in SHARED.glob("*/clients.json"))


def settings(notes: Notes) -> dict[str, AnomalyConfig]:
    given = AnomalyConfig(delivery_count_limits=notes.limits, record_lock_durations_ms=notes.locks_ms)
    return {"defaults": AnomalyConfig(), "limit and lock given": given}


def by_notes(place: Place, notes: Notes) -> str:
    if place in notes.accepted:
        return "accepted"
    return "poison" if place in notes.poison else "neither"


class Measured:
    """Findings on records that reached the limit, beside what the clients noted of them."""

    def __init__(self, directory: Path, config: AnomalyConfig, notes: Notes) -> None:
        #: Kind, whether the finding leaves it open, and what the notes say.
        self.told: Counter[tuple[str, bool, str]] = Counter()
        self.places: set[Place] = set()
        #: Records of lock-expiry loops, and those whose members were not heard in time by their own notes.
        self.looped, self.unheard = 0, 0
        for row in analysis.anomalies(directory, config):
            if row.kind in _AT_LIMIT:
                self._take(row, notes)

    def _take(self, row: analysis.Anomaly, notes: Notes) -> None:
        is_open = set(undecided(row))
        for place in accused(row):
            self.places.add(place)
            self.told[row.kind, place in is_open, by_notes(place, notes)] += 1
            if row.kind == AnomalyKind.LOCK_EXPIRY_LOOP:
                self.looped += 1
                self.unheard += place in notes.unheard or place in notes.accepted

    def share(self, *, is_open: bool, by: str) -> int:
        return sum(count for (_, was_open, told), count in self.told.items() if (was_open, told) == (is_open, by))

    def kind(self, kind: str, *, is_open: bool) -> list[int]:
        return [self.told[kind, is_open, by] for by in _BY_NOTES]


def percent(part: int, whole: int) -> str:
    return "-" if whole == 0 else f"{100 * part / whole:.1f} %"


def accusations(directory: Path) -> list[str]:
    """A line a kind: what it accuses, and what the clients noted of these records."""
    notes = noted(directory)
    lines = []
    for name, config in settings(notes).items():
        measured = Measured(directory, config, notes)
        for kind in _AT_LIMIT:
            for is_open in (False, True):
                poison, late, neither = measured.kind(kind, is_open=is_open)
                records = poison + late + neither
                if records:
                    claim = "left open" if is_open else "nobody accepted it"
                    right = "-" if is_open else percent(poison, records)
                    figures = f"{records} | {poison} | {late} | {neither} | {right}"
                    lines.append(f"| {directory.name} | {name} | `{kind}` | {claim} | {figures} |")
    return lines


def recalls(directory: Path) -> list[str]:
    """A line for the settings: what became of the records that the notes call poison, and of those accepted too late."""
    notes = noted(directory)
    lines = []
    for name, config in settings(notes).items():
        measured = Measured(directory, config, notes)
        told, left_open = measured.share(is_open=False, by="poison"), measured.share(is_open=True, by="poison")
        missed = len(notes.poison) - told - left_open
        shares = f"{percent(told, len(notes.poison))} | {percent(told + left_open, len(notes.poison))}"
        accepted = f"{measured.share(is_open=False, by='accepted')} | {measured.share(is_open=True, by='accepted')}"
        loops = f"{measured.unheard} of {measured.looped}"
        figures = f"{len(notes.poison)} | {told} | {left_open} | {missed} | {shares} | {accepted} | {loops}"
        lines.append(f"| {directory.name} | {name} | {figures} |")
    return lines


def test_the_notes_of_the_clients_are_at_hand_where_they_must_be() -> None:
    assert not shared_is_required() or set(PUBLISHED) <= {path.name for path in clients()}


def archived_at_limit(directory: Path, notes: Notes) -> set[Place]:
    """Records that the log still holds: its beginning may have been pruned."""
    return {
        Place(row.group, row.topic_id, row.partition, offset)
        for row in analysis.history(directory)
        if row.to_state in {RecordState.ARCHIVING, RecordState.ARCHIVED}
        and (row.to_count or 0) >= notes.limits[row.group]
        and row.first_offset is not None
        and row.last_offset is not None
        for offset in range(row.first_offset, row.last_offset + 1)
    }


@pytest.mark.parametrize("directory", clients(), ids=recording_id)
def test_who_is_accused_was_accepted_by_nobody_and_who_was_not_is_found(directory: Path) -> None:
    notes = noted(directory)
    poison = notes.poison & archived_at_limit(directory, notes)
    assert poison
    for name, config in settings(notes).items():
        measured = Measured(directory, config, notes)
        told = {by: measured.share(is_open=False, by=by) for by in _BY_NOTES}
        assert told["poison"] >= 0.95 * sum(told.values()), (name, told)
        assert poison <= set(measured.places), name


@pytest.mark.parametrize("directory", [path for path in clients() if path.name in PUBLISHED], ids=recording_id)
def test_no_record_is_in_two_findings(directory: Path) -> None:
    notes = noted(directory)
    for config in settings(notes).values():
        measured = Measured(directory, config, notes)
        assert len(measured.places) == sum(measured.told.values()) > 0


@pytest.mark.parametrize("table", [accusations, recalls])
def test_the_page_shows_what_is_measured(table: Callable[[Path], list[str]]) -> None:
    """Line by line, for the recordings that are at hand."""
    wanted = [line for directory in clients() if directory.name in PUBLISHED for line in table(directory)]
    page = PAGE.read_text(encoding="utf-8")
    begin = page.index("\n", page.index(f"<!-- measured: {table.__name__} -->")) + 1
    shown = re.match(r"(?:\|.*\n)*", page[begin:])
    assert shown is not None
    head, lines = shown[0].splitlines()[:2], shown[0].splitlines()[2:]
    if wanted and os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(page[:begin] + "\n".join([*head, *wanted, ""]) + page[begin + shown.end() :], encoding="utf-8")
        return
    assert not wanted or lines == wanted
    assert {line.split(" | ")[0] for line in lines} == {f"| {name}" for name in PUBLISHED}
