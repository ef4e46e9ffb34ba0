"""Checks rules of the tree that no linter knows; `make lint-python` runs it.

* Nothing is left to do: no marks that say so.
* Lock files name packages, not the hosts they come from.
* No path of one person's machine.
* Source files have 40 to 330 lines; `file_sizes.toml` lists the others, each with its reason.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
_CARGO_INDEX = "registry+https://github.com/rust-lang/crates.io-index"
_UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
_MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|home|root|Users)/\w")
_SIZES = Path(__file__).with_name("file_sizes.toml")
_LONGEST, _SHORTEST = 330, 40
_CODE = frozenset({".rs", ".py"})
#: A package or a crate may say in a few lines what it is made of, and a file of tests may test one thing.
_MAY_BE_SHORT = re.compile(
    r"(?:^|/)(?:mod|lib|main|build|__init__|__main__|conftest)\.\w+$|(?:^|/)(?:tests|benches|scripts|examples|fuzz)/|(?:^|/)tests\.rs$"
)
_SOURCES = frozenset({".rs", ".py", ".pyi", ".toml", ".md", ".txt", ".sh", ".lock", ""})


def main() -> int:
    """Print every breach with its place; the exit status is 1 when there is one."""
    files = sources()
    breaches = [breach for path in files for breach in check(path)]
    with _SIZES.open("rb") as listed:
        breaches += odd_sizes({str(path.relative_to(REPOSITORY)): _lines(path) for path in files}, tomllib.load(listed))
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


def odd_sizes(lines: Mapping[str, int], listed: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Source files, by name with their lines, that are too long or too short and not listed, or listed without need."""
    code = {name: count for name, count in lines.items() if Path(name).suffix in _CODE}
    long = {name for name, count in code.items() if count > _LONGEST}
    short = {name for name, count in code.items() if count < _SHORTEST and not _MAY_BE_SHORT.search(name)}
    breaches = []
    for kind, found in (("long", long), ("short", short)):
        reasons = listed.get(kind, {})
        breaches += [
            f"{name}: {kind}, {code[name]} lines: divide it, join it, or give a reason" for name in sorted(found - reasons.keys())
        ]
        breaches += [f"{_SIZES.name}: {name} is not too {kind}" for name in sorted(reasons.keys() - found)]
        breaches += [f"{_SIZES.name}: {name} has no reason" for name in sorted(reasons) if not reasons[name].strip()]
    return breaches


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


if __name__ == "__main__":
    sys.exit(main())
