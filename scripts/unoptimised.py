"""Builds the extension without optimisation into a package of its own, for `make check`: `python scripts/unoptimised.py FOLDER`.

In FOLDER stands `share_state` with links to the Python sources and to the library that cargo built, so that the installed
extension stays what `make build` and the measurements made it. Needs cargo (`CARGO` names another).
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
SOURCES = REPOSITORY / "python" / "share_state"
_CRATE = "share-state-python"
_BUILD = ["build", "--package", _CRATE, "--locked", "--quiet", "--message-format", "json-render-diagnostics"]
_EXTENSION = "_core.abi3.so"


def library() -> Path:
    """Build the crate, and return the shared library that cargo made."""
    command = [os.environ.get("CARGO", "cargo"), *_BUILD]
    told = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    for line in told.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and "cdylib" in message["target"]["kind"]:
            return Path(message["filenames"][0])
    raise RuntimeError(f"cargo built no shared library of {_CRATE}")


def link(folder: Path, built: Path) -> None:
    """Make the package anew."""
    package = folder / SOURCES.name
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for source in SOURCES.iterdir():
        if source.suffix != ".so" and source.name != "__pycache__":
            (package / source.name).symlink_to(source)
    (package / _EXTENSION).symlink_to(built)


def main(arguments: list[str]) -> int:
    """Build and link; the exit status is 2 when no folder is named, and cargo's when it fails."""
    if len(arguments) != 1:
        print("usage: unoptimised.py FOLDER", file=sys.stderr)
        return 2
    try:
        link(Path(arguments[0]), library())
    except subprocess.CalledProcessError as failed:
        return int(failed.returncode)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
