"""A bar on stderr, where a person watches a long read, and nowhere else."""

import io

import pytest

from share_state.cli.shared import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_long_read_shows_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    monkeypatch.setenv("TERM", "xterm")
    with progress.byte_progress("folding") as report:
        assert report is not None
        report(10, 100)
    assert "folding" in terminal.getvalue()


def test_a_short_read_leaves_the_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "_PATIENCE", 3600)
    with progress.byte_progress("folding") as report:
        assert report is not None
        report(10, 100)
    assert terminal.getvalue() == ""


def test_off_a_terminal_there_is_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    with progress.byte_progress("folding") as report:
        assert report is None
    assert list(progress.counted([1, 2, 3], "records")) == [1, 2, 3]
    assert file.getvalue() == ""


def test_rows_are_counted_on_stderr_when_they_go_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setenv("TERM", "xterm")
    assert list(progress.counted([1, 2, 3], "records")) == [1, 2, 3]
    assert "records" in terminal.getvalue()


def test_rows_on_the_same_terminal_are_not_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("sys.stdout", terminal)
    assert list(progress.counted([1, 2, 3], "records")) == [1, 2, 3]
    assert terminal.getvalue() == ""
