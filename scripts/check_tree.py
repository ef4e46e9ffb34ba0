"""Checks rules of the tree that no linter knows; `make lint-python` runs it.

* Nothing is left to do: no marks that say so.
* Lock files name packages, not the hosts they come from.
* No path of one person's machine.
"""

import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
_CARGO_INDEX = "registry+https://github.com/rust-lang/crates.io-index"
_UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
_MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|home|root|Users)/\w")
_SOURCES = frozenset({".rs", ".py", ".pyi", ".toml", ".md", ".txt", ".sh", ".lock", ""})


def main() -> int:
    """Print every breach with its place; the exit status is 1 when there is one."""
    files = sources()
    breaches = [breach for path in files for breach in check(path)]
    for breach in breaches:
        print(breach, file=sys.stderr)
    if not files:
        print("no file was checked", file=sys.stderr)
    return 1 if breaches or not files else 0


def sources() -> list[Path]:
    """All text files that git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
    )
    paths = (REPOSITORY / name for name in listed.stdout.decode("utf-8").split("\0") if name)
    return sorted(path for path in paths if path.suffix in _SOURCES and path.is_file() and path != Path(__file__))


def check(path: Path) -> list[str]:
    """All breaches in one file."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        # Recorded data without a suffix.
        return []
    breaches = []
    is_lock = path.suffix == ".lock" or path.parent.name == "requirements"
    for number, line in enumerate(text.splitlines(), start=1):
        place = f"{path.relative_to(REPOSITORY)}:{number}"
        if _UNFINISHED.search(line):
            breaches.append(f"{place}: something is left to do")
        if _MACHINE_PATH.search(line):
            breaches.append(f"{place}: a path of one machine")
        if is_lock and "://" in line and _CARGO_INDEX not in line:
            breaches.append(f"{place}: a lock file names a host")
    return breaches


if __name__ == "__main__":
    sys.exit(main())
