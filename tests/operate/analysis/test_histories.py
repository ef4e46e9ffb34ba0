"""Histories of what clients saw: the command, its errors, the schema and the page."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

import share_state as ss
from share_state import errors
from share_state.operate.histories import CHECKS, check_history
from tests.cli_runner import run
from tests.pages.runner import REPOSITORY

EXAMPLE = REPOSITORY / "examples" / "histories" / "delivered-again.jsonl"


def sound(tmp_path: Path) -> Path:
    lines = EXAMPLE.read_bytes().splitlines(keepends=True)
    path = tmp_path / "sound.jsonl"
    path.write_bytes(b"".join(lines[:3] + lines[4:]))
    return path


def test_a_violation_a_line_and_its_events(tmp_path: Path) -> None:
    result = run("check-history", EXAMPLE)
    assert (result.returncode, result.stderr) == (1, "")
    (line,) = result.stdout.splitlines()
    row = json.loads(line)
    assert next(iter(row)) == "check"
    assert (row["check"], row["group"], row["topic"], row["partition"]) == ("H1", "workers", "orders", 0)
    assert (row["first"], row["last"]) == (3, 3)
    events = [json.loads(text) for text in EXAMPLE.read_text().splitlines()]
    assert row["excerpt"] == [events[2], events[3]]
    array = run("check-history", EXAMPLE, "-f", "json")
    assert array.returncode == 1
    assert json.loads(array.stdout) == [json.loads(line) for line in result.stdout.splitlines()]
    nothing = run("check-history", sound(tmp_path), "--format", "jsonl")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (0, "", "")


def test_several_files_are_several_histories(tmp_path: Path) -> None:
    result = run("check-history", sound(tmp_path), EXAMPLE)
    assert result.returncode == 1
    assert [json.loads(line)["file"] for line in result.stdout.splitlines()] == [str(EXAMPLE)]


def test_a_table_counts_what_was_looked_at(tmp_path: Path) -> None:
    result = run("check-history", "--format", "table", EXAMPLE, COLUMNS="200")
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == f"{EXAMPLE}: 5 events of 1 share partition, 1 violation"
    assert "H1" in result.stdout
    nothing = run("check-history", "--format", "table", sound(tmp_path), COLUMNS="200")
    assert nothing.stdout.splitlines()[-1].endswith("4 events of 1 share partition, 0 violations")


def test_what_is_no_history_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"type":"drained","t":1,"group":"g"}\n{"type":"gone","t":2,"group":"g"}\n')
    result = run("check-history", path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"share-state: {path}: line 2: member: missing\n"
    with pytest.raises(errors.NotAHistoryError) as told:
        check_history(path.read_bytes().splitlines())
    assert (told.value.line, told.value.field) == (2, "member")
    path.write_bytes(b"\xff\xfe")
    result = run("check-history", path)
    assert (result.returncode, result.stderr) == (2, f"share-state: {path}: line 1: not a JSON object\n")
    missing = run("check-history", tmp_path / "missing")
    assert (missing.returncode, missing.stdout) == (3, "")
    assert "No such file or directory" in missing.stderr
    assert run("check-history", EXAMPLE, "--delivery-limit", "0").returncode == 2


@pytest.mark.parametrize(("name", "value"), [("delivery_limit", 0), ("skew_ms", -1), ("within_ms", 0)])
def test_a_setting_out_of_its_range_is_named(name: str, value: int) -> None:
    with pytest.raises(ss.ConfigError) as told:
        check_history([], **{name: value})
    assert (told.value.field, told.value.value) == (name, value)


def test_settings_change_what_is_found() -> None:
    lines = EXAMPLE.read_bytes().splitlines(keepends=True)
    report = check_history(lines, delivery_limit=1)
    assert [one.check for one in report.violations] == ["H1", "H4"]
    assert (report.events, report.share_partitions) == (5, 1)


def test_the_schema_fits_what_is_read() -> None:
    schema = json.loads((resources.files("share_state") / "schemas" / "history-event-1.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    count = 0
    for line in EXAMPLE.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        validator.validate(event)
        # Each field that the schema asks for is asked for by the reader, and the other way round.
        for name in event:
            rest = {key: value for key, value in event.items() if key != name}
            is_optional = event["type"] == "drained" and name == "group"
            assert validator.is_valid(rest) == is_optional, (event["type"], name)
            if is_optional:
                check_history([json.dumps(rest).encode()])
            else:
                with pytest.raises(errors.NotAHistoryError):
                    check_history([json.dumps(rest).encode()])
            count += 1
    assert count == 6 + 11 + 9 + 11 + 3


def test_the_page_says_what_the_checks_are() -> None:
    page = (REPOSITORY / "docs" / "histories.md").read_text(encoding="utf-8")
    assert len(CHECKS) == 8
    for check, promise in CHECKS.items():
        assert f"| `{check}` | {promise.split('. ')[0].rstrip('.')}." in page
