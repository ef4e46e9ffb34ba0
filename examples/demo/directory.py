"""The directory that a run fills: made again each time, never one that holds something else, and named for people."""

import shlex
import shutil
from pathlib import Path

_MARK = "made-by-the-demo"


class NotOurDirectoryError(Exception):
    """The directory holds what no demo put there."""


def make_anew(directory: Path) -> None:
    """Remove what an earlier run left and make the directory again."""
    if directory.exists():
        if not (directory / _MARK).exists() and any(directory.iterdir()):
            raise NotOurDirectoryError(f"{directory} holds something that is not the demo's: name another directory")
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    (directory / _MARK).touch()


def named(path: Path) -> str:
    """Name a path as somebody in the current directory would type it."""
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))
