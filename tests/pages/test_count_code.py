"""Lines of the repository by wing: every file of code has one wing and one side, and the sums are those of the files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import count_code

SCRIPT = count_code.REPOSITORY / "scripts" / "count_code.py"


def test_every_line_of_code_is_counted_once() -> None:
    told = subprocess.run([sys.executable, SCRIPT, "--all", "--json"], capture_output=True, check=True, encoding="utf-8").stdout
    rows = json.loads(told)
    lines = sum((count_code.REPOSITORY / path).read_bytes().count(b"\n") for path in count_code.sources())
    assert rows["all"]["both"] == lines > 100_000
    for side in ("product", "proof", "both"):
        assert sum(row[side] for name, row in rows.items() if name != "all") == rows["all"][side] > 0
    assert all(row["product"] + row["proof"] == row["both"] for row in rows.values())


def test_the_files_are_those_of_git_outside_data() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=count_code.REPOSITORY, capture_output=True, check=True, encoding="utf-8"
    ).stdout
    code = {path for path in listed.splitlines() if Path(path).suffix in {".rs", ".py", ".java", ".go"}}
    missing = code - set(count_code.sources())
    assert all(path.startswith("tests/data/") or not (count_code.REPOSITORY / path).exists() for path in missing), missing
    assert {Path(path).suffix for path in count_code.sources()} == {".rs", ".py", ".java", ".go"}


def test_every_row_of_the_table_is_the_first_for_some_file() -> None:
    used = {next(row for row in count_code.WINGS if re.match(row[0], path)) for path in count_code.sources()}
    assert [row for row in count_code.WINGS if row not in used] == []


@pytest.mark.parametrize(
    ("path", "wing", "side"),
    [
        ("rust/log/src/store/mod.rs", "log", "product"),
        ("rust/log/src/store/tests/mod.rs", "log", "proof"),
        ("rust/log/src/meta/tests.rs", "log", "proof"),
        ("rust/core/src/state/state_batch/fits_tests.rs", "state", "proof"),
        ("rust/core/tests/groups/share_group/mod.rs", "groups", "proof"),
        ("rust/proof/judge/src/main.rs", "judge", "proof"),
        ("python/share_state/cli/state/command.py", "cli", "product"),
        ("python/share_state/operate/doctor/checks.py", "operate", "product"),
        ("python/share_state/operate/plot.py", "operate", "product"),
        ("python/share_state/errors.py", "library", "product"),
        ("tests/gateway/process.py", "gateway", "proof"),
        ("tests/proof/histories/run.py", "histories", "proof"),
        ("tests/conftest.py", "tests", "proof"),
        ("examples/demo/run.py", "examples", "product"),
        ("benches/java/kafka/server/share/Bench.java", "benches", "proof"),
    ],
)
def test_a_file_has_the_wing_and_the_side_of_its_path(
    path: str, wing: str, side: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text("one\ntwo\n")
    monkeypatch.setattr(count_code, "REPOSITORY", tmp_path)
    assert count_code.wing(path) == wing
    row = count_code.count_all([path])[wing]
    assert row == {"product": 0, "proof": 0, "both": 2} | {side: 2}


def test_a_path_without_a_row_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LookupError, match=r"elsewhere/a\.rs"):
        count_code.wing("elsewhere/a.rs")
    monkeypatch.setattr(count_code, "sources", lambda: ["tests/elsewhere/a.py"])
    monkeypatch.setattr(sys, "argv", ["count_code.py", "--all"])
    assert count_code.main() == 1
    assert "tests/elsewhere/a.py: expected a path" in capsys.readouterr().err
