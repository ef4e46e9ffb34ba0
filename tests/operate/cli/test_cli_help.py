"""Help, version, completion and the man page: whole, true, and quickly there."""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from typing import Any

import pytest
import typer

from share_state.cli.app import app
from share_state.cli.commands import COMMANDS
from share_state.cli.shared.exit_codes import ExitCode
from tests.cli_in_process import run_here
from tests.cli_runner import environment, run
from tests.recordings import REPOSITORY

ROOT: Any = typer.main.get_command(app)
#: Modules that neither help nor version needs.
HEAVY = (
    "share_state.kafka",
    "share_state.operate.analysis",
    "share_state.operate.reading",
    "share_state.gateway",
    "confluent_kafka",
    "numpy",
    "rich",
    "textual",
)
_MODULES = """
import json, sys
from share_state.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_no_command(option: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", _MODULES, option],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0
    imported = json.loads(ran.stderr)
    assert "share_state.cli.app" in imported
    assert [name for name in imported if name.startswith(HEAVY) or name.endswith(".command")] == []
    assert len(imported) < 200


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_has_a_short_name(option: str) -> None:
    ran = run(option)
    assert (ran.returncode, ran.stdout) == (0, f"share-state {version('share-state')}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_a_command_what_its_own_help_says_first(name: str) -> None:
    assert COMMANDS[name].says == words(ROOT.get_command(None, name).help.split("\n\n")[0])


def test_every_command_is_in_the_list() -> None:
    files = {f"{path.parent.name}.command" for path in (REPOSITORY / "python" / "share_state" / "cli").glob("*/command.py")}
    assert {place.module for place in COMMANDS.values()} == files
    shown = run("--help", COLUMNS="80").stdout
    assert all(f"  {name} " in shown for name in COMMANDS)


@pytest.mark.parametrize("name", [*COMMANDS, "spark run"])
def test_80_columns_show_help_whole(name: str) -> None:
    result = run_here(*name.split(), "--help", columns=80)
    assert (result.returncode, result.stderr) == (0, "")
    shown = words(result.stdout)
    command = ROOT
    for word in name.split():
        command = command.get_command(None, word)
    said = [words(parameter.help) for parameter in command.params if getattr(parameter, "help", None)]
    assert [text for text in said if text not in shown] == []
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_what_looks_like_the_name_of_an_emoji_is_none() -> None:
    assert "NAME:ID:PARTITIONS" in run("coordinator", "--help").stdout


def test_a_shell_is_told_how_words_go_on() -> None:
    completed = run(_SHARE_STATE_COMPLETE="complete_bash", COMP_WORDS="share-state st", COMP_CWORD="1")
    assert completed.stdout.split() == ["state"]
    options = run(_SHARE_STATE_COMPLETE="complete_bash", COMP_WORDS="share-state state --as", COMP_CWORD="2")
    assert options.stdout.split() == ["--as-of"]


def test_the_pages_of_the_commands_are_what_the_help_says() -> None:
    docs = REPOSITORY / "docs"
    script = """
import runpy, sys
made = runpy.run_path("scripts/man_page.py")
sys.stdout.write(made["page"]() + "\\0" + made["commands_page"](made["COMMANDS_PAGE"].read_text(encoding="utf-8")))
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, env=environment(), capture_output=True, encoding="utf-8", check=True
    )
    man_page, table = ((docs / name).read_text(encoding="utf-8") for name in ("share-state.1", "commands.md"))
    assert (man_page, table) == tuple(ran.stdout.split("\0")), "`make man-page` renews them"
    assert all(f'.SS "{name.replace("-", chr(92) + "-")} ' in man_page for name in COMMANDS)
    assert all(f"| `share-state {name}" in table for name in COMMANDS)
    assert "NAME:ID:PARTITIONS" in man_page


def test_the_exit_statuses_of_the_help_are_those_of_the_page() -> None:
    page = (
        (REPOSITORY / "docs" / "commands.md").read_text(encoding="utf-8").partition("## Exit status\n")[2].partition("\n## ")[0]
    )
    told = [int(number) for number in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)]
    epilog = " ".join(run("--help", COLUMNS="200").stdout.split()).partition("Exit status: ")[2]
    assert [int(number) for number in re.findall(r"(?:^|; )(\d+):? ", epilog)] == told == list(map(int, ExitCode))


def test_usage_is_told_in_plain_words() -> None:
    result = run("fold")
    assert result.stderr.splitlines()[-1] == "Error: No such command 'fold'."
