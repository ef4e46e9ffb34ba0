"""A campaign of the judge is stopped and goes on, and its tally loses nothing. Kafka is not needed: the runs are made up."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from .campaign import LENGTHS, PIECE, Tally, main
from .differential import PROFILES, Result


class MadeUp:
    """Runs that were never played, the last of which is stopped or differs."""

    def __init__(self, stop_after: int | None = None, differs: bool = False) -> None:
        self.played: list[tuple[str, int, int, int]] = []
        self._stop_after = stop_after
        self._differs = differs

    def __call__(self, profile: str, seed: int, sequences: int, length: int, **_: Any) -> Result:
        if len(self.played) == self._stop_after:
            raise KeyboardInterrupt
        self.played.append((profile, seed, sequences, length))
        result = Result(profile, operations=sequences * length, compared=sequences * length - 1, seconds=0.5)
        result.classes = Counter({"N1": 2})
        result.coverage = Counter({"meeting: a full moon": 3, "acquire: 1 ranges": 4})
        if self._differs:
            result.unexplained = Counter({"acquire: answer": 1})
        return result


def test_a_campaign_that_is_stopped_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tally.json"
    first, second = MadeUp(stop_after=5), MadeUp(stop_after=20)
    for made_up in (first, second):
        assert main(["--tally", str(path), "--minutes", "600"], made_up) == 0
        assert "stopped" in capsys.readouterr().err
    played = first.played + second.played
    assert len(played) == 25
    assert {(profile, length) for profile, _, _, length in second.played} >= {(profile, 20) for profile in PROFILES}
    tally = Tally.load(path)
    cells = [(profile, length, cell) for profile, lengths in tally.cells.items() for length, cell in lengths.items()]
    assert sum(cell.operations for _, _, cell in cells) == sum(sequences * length for _, _, sequences, length in played)
    assert sum(cell.compared for _, _, cell in cells) == sum(sequences * length - 1 for _, _, sequences, length in played)
    assert sum(cell.classes["N1"] for _, _, cell in cells) == 50
    assert sum(cell.meetings["meeting: a full moon"] for _, _, cell in cells) == 75
    assert sorted(seed for _, _, cell in cells for seed in cell.seeds) == sorted(seed for _, seed, _, _ in played)
    assert len({seed for _, seed, _, _ in played}) == 25


def test_the_tally_is_shown_without_playing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tally.json"
    assert main(["--tally", str(path), "--minutes", "0", "--profile", "engine", "--length", "1000"], MadeUp()) == 0
    capsys.readouterr()
    never = MadeUp()
    assert main(["--tally", str(path), "--show"], never) == 0
    assert never.played == []
    operations = PIECE["engine"] // 1_000 * 1_000
    out = capsys.readouterr().out
    assert f"| engine | 1,000 | {operations:,} | {operations - 1:,} | 0 | N1 2 |" in out
    assert out.endswith(f"{operations:,} operations, 0 unexplained\n")


def test_an_unexplained_difference_stays_in_the_tally(tmp_path: Path) -> None:
    path = tmp_path / "tally.json"
    assert main(["--tally", str(path), "--minutes", "0"], MadeUp(differs=True)) == 1
    assert main(["--tally", str(path), "--show"], MadeUp()) == 1


def test_every_length_of_the_plan_is_played(tmp_path: Path) -> None:
    made_up = MadeUp(stop_after=len(PROFILES) * len(LENGTHS))
    main(["--tally", str(tmp_path / "tally.json"), "--minutes", "600"], made_up)
    assert {(profile, length) for profile, _, _, length in made_up.played} == {(p, n) for p in PROFILES for n in LENGTHS}
