"""Runs the blocks of a page in a copy of what a reader has in the checkout."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.pages.blocks import ConsoleBlock, PythonBlock, matches

REPOSITORY = Path(__file__).resolve().parents[2]
#: Files that commands on a page may read; nothing they do reaches the checkout.
_COPIED = ("examples", "tests/data/kafka-state")
_TIMEOUT_S = 120


def make_copy(directory: Path) -> None:
    """Lay out in `directory` what a page's commands may use."""
    for name in _COPIED:
        shutil.copytree(REPOSITORY / name, directory / name, ignore=shutil.ignore_patterns("__pycache__"))


def run_blocks(blocks: list[PythonBlock | ConsoleBlock], directory: Path) -> Counter[str]:
    """Run all blocks in order in one directory; returns how many of each kind were run."""
    ran: Counter[str] = Counter()
    for block in blocks:
        if isinstance(block, PythonBlock):
            run_python(block, directory)
            ran["python"] += 1
        else:
            run_console(block, directory)
            ran["console"] += 1
    return ran


def run_python(block: PythonBlock, directory: Path) -> None:
    """Run a Python block as a script with warnings as errors."""
    result = _run([sys.executable, "-W", "error", "-c", block.code], directory)
    assert result.returncode == 0, f"the Python block in line {block.line} failed:\n{result.stderr}"
    if block.output is not None:
        assert matches(result.stdout, block.output), (
            f"the Python block in line {block.line} printed\n{result.stdout}\ninstead of\n{block.output}"
        )


def run_console(block: ConsoleBlock, directory: Path) -> None:
    """Run the commands of a console block, each in a shell of its own."""
    for command in block.commands:
        result = _run(["bash", "-euo", "pipefail", "-c", command.command], directory)
        where = f"`{command.command}` (block in line {block.line})"
        assert result.returncode == 0, f"{where} ended with {result.returncode}:\n{result.stdout}{result.stderr}"
        assert matches(result.stdout, command.output), f"{where} printed\n{result.stdout}\ninstead of\n{command.output}"


def _run(arguments: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    scripts = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([scripts, os.environ.get("PATH", "")]),
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
    }
    return subprocess.run(
        arguments,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=_TIMEOUT_S,
    )
