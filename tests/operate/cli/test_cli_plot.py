"""The command that draws, without the package that draws: what it reads, refuses and tells."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from share_state.cli.app import app
from share_state.cli.commands import COMMANDS
from share_state.cli.plot.command import Picture
from share_state.operate import plot
from tests.recordings import JOBS, REPOSITORY

CHOICE = ("--group", "jobs-workers", "--partition", "1")
SEGMENT = Path("__share_group_state-0") / "00000000000000000000.log"


class Figure:
    """Writes what it was drawn from instead of a picture."""

    def __init__(self, rows: list[object]) -> None:
        self.rows = rows

    def savefig(self, path: Path) -> None:
        path.write_text(str(len(self.rows)), encoding="utf-8")


@pytest.fixture(autouse=True)
def figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot, "timeline", Figure)


def shown(*arguments: object) -> tuple[int, str, str]:
    ran = CliRunner().invoke(app, ["plot", *map(str, arguments)], env={"COLUMNS": "400"})
    return ran.exit_code, ran.stdout, ran.stderr


def damaged(directory: Path) -> Path:
    log = directory / "log"
    shutil.copytree(JOBS, log, copy_function=shutil.copyfile)
    content = bytearray((log / SEGMENT).read_bytes())
    content[len(content) // 2] ^= 0xFF
    (log / SEGMENT).write_bytes(content)
    return log


def test_damage_is_told_beside_the_picture_of_the_rest(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.png", tmp_path / "part.png"
    assert shown(JOBS, "-o", whole, *CHOICE) == (0, "", "")
    code, out, err = shown(damaged(tmp_path), "-o", part, *CHOICE)
    assert (code, out) == (4, "")
    assert str(SEGMENT) in err
    assert 0 < int(part.read_text("utf-8")) < int(whole.read_text("utf-8"))


@pytest.mark.parametrize("choice", [("--group", "nobody"), ("--group", "jobs-workers")])
def test_damage_is_told_beside_a_choice_that_is_refused(choice: tuple[str, ...], tmp_path: Path) -> None:
    code, _, err = shown(damaged(tmp_path), "-o", tmp_path / "x.png", *choice)
    assert code == 2
    assert str(SEGMENT) in err
    assert not (tmp_path / "x.png").exists()


def test_where_nothing_can_be_read_nothing_was_chosen_wrongly(tmp_path: Path) -> None:
    torn = tmp_path / "__share_group_state-0"
    torn.mkdir()
    (torn / SEGMENT.name).write_bytes((JOBS / SEGMENT).read_bytes()[:20])
    code, _, err = shown(torn, "-o", tmp_path / "x.png")
    assert code == 4
    assert err.startswith("torn_tail: ")
    assert "the choice leaves" not in err
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize("name", ["pic", "pic.", "pic.txt", ".png", "/dev/full"])
def test_a_picture_without_a_known_suffix_is_refused_by_the_formats_of_the_help(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = shown(JOBS, "-o", name, *CHOICE)
    assert code == 2
    assert f"{name} has an unknown suffix; expected one of .png, .svg, .pdf" in " ".join(err.split())
    assert list(tmp_path.iterdir()) == []
    assert ".png, .svg, .pdf" in " ".join(shown("--help")[1].split())


@pytest.mark.parametrize("name", ["pic.svg", "a.b.PDF"])
def test_a_known_suffix_is_taken_in_any_case(name: str, tmp_path: Path) -> None:
    assert shown(JOBS, "-o", tmp_path / name, *CHOICE) == (0, "", "")
    assert (tmp_path / name).exists()


def test_the_docs_say_what_each_kind_shows() -> None:
    page = (REPOSITORY / "docs" / "history-and-anomalies.md").read_text(encoding="utf-8")
    section = page.split("\n## Pictures\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)`", section, re.MULTILINE) == [kind.value for kind in Picture]


def test_the_docs_name_each_command_that_reads_a_running_cluster() -> None:
    page = (REPOSITORY / "docs" / "kafka-cluster.md").read_text(encoding="utf-8")
    sentence = page.split("\n## Look into a running cluster\n")[1].split(" take `kafka://")[0]
    usages = {name: CliRunner().invoke(app, [name, "--help"]).stdout.split("\n\n")[0] for name in COMMANDS}
    reads = {name for name, usage in usages.items() if "kafka://" in usage}
    assert set(re.findall("`(?:share-state )?(\\w+)`", sentence)) == reads
