"""The directory that a run fills: made again each time, and never one that holds something else."""

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
