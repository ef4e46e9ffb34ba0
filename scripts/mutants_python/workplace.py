"""The copy below build/ in which mutmut works, so that the tree stays as it is.

mutmut wants a package beside its tests, so `python/share_state` stands at the top of the copy. A file that has not changed
keeps its time there, and with it mutmut keeps the verdicts of its mutants.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[2]
_COPIED: Final = ("tests", "examples", "benches", "scripts", "deploy", "docs", "README.md")
_IGNORED: Final = ("__pycache__", ".hypothesis")


class Workplace:
    """A copy, and mutmut in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def renew(self) -> None:
        """Bring the copy up to date with the tree."""
        self.folder.mkdir(parents=True, exist_ok=True)
        _mirror(REPOSITORY / "python" / "share_state", self.folder / "share_state")
        for name in _COPIED:
            _mirror(REPOSITORY / name, self.folder / name)

    def configure(self, modules: Iterable[str], tests: Iterable[str]) -> None:
        """Say which modules are mutated and which tests are run."""
        config = (REPOSITORY / "pyproject.toml").read_text()
        table = "[tool.mutmut]\n"
        if config.count(table) != 1:
            raise ValueError(f"pyproject.toml has {table.strip()} {config.count(table)} times, not once")
        chosen = f"{table}only_mutate = {_toml(modules)}\npytest_add_cli_args_test_selection = {_toml(tests)}\n"
        config = config.replace(table, chosen)
        path = self.folder / "pyproject.toml"
        if not path.exists() or path.read_text() != config:
            # Verdicts of other tests, or by other rules, are none.
            shutil.rmtree(self.folder / "mutants", ignore_errors=True)
            path.write_text(config)

    def generate(self) -> int:
        """Make the mutants; gives the status."""
        return self._run(sys.executable, "-m", "scripts.mutants_python.generation")

    def try_all(self, children: int, names: Iterable[str] = ()) -> int:
        """Run the tests for these mutants, or for all that have no verdict; gives the status."""
        return self._run(str(Path(sys.executable).parent / "mutmut"), "run", "--max-children", str(children), *names)

    def _run(self, *command: str) -> int:
        places = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
        environment = {**os.environ, "PATH": os.pathsep.join(places), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, cwd=self.folder, env=environment, check=False).returncode


def _toml(texts: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{text}"' for text in texts) + "]"


def _mirror(source: Path, target: Path) -> None:
    """Make the target what the source is; files that are the same stay untouched."""
    if source.is_file():
        if not target.exists() or not filecmp.cmp(source, target, shallow=False):
            shutil.copyfile(source, target)
        return
    target.mkdir(exist_ok=True)
    wanted = {entry.name for entry in source.iterdir() if entry.name not in _IGNORED}
    for entry in target.iterdir():
        if entry.name not in wanted:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for name in wanted:
        _mirror(source / name, target / name)
