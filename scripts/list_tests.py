"""Lists the files of tests with their subjects: `list_tests.py`, or those that speak of a word: `list_tests.py WORD`.

The subject is the first paragraph of a module's docstring or of a file's `//!` comment. The time stands beside it if the
last run of the Makefile's targets recorded one. `list_tests.py --slowest 20` lists the tests that took longest in it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

REPOSITORY: Final = Path(__file__).resolve().parents[1]
#: JUnit files of pytest, one a target; their times include fixtures.
TIMES: Final = REPOSITORY / "build" / "test-times"
#: Python modules and Rust files that hold tests. Of a suite in a folder, `main.rs` or `mod.rs` has the subject.
_TESTS: Final = re.compile(
    r"tests/.*/test_\w+\.py|rust/(?:proof/)?\w+/tests/(?:\w+\.rs|\w+/main\.rs)"
    r"|rust/core/tests/(?:groups|partition|state)/\w+(?:/mod)?\.rs|rust/(?:proof/)?\w+/src/(?:.*/)?tests(?:\.rs|/mod\.rs)"
)
_PYTHON: Final = re.compile(r'"""(.+?)(?:\n\s*\n|""")', re.DOTALL)
_RUST: Final = re.compile(r"(?://! ?.+\n)+")


class Timed(NamedTuple):
    """A test that was run."""

    seconds: float
    file: str
    name: str


def rows() -> Iterator[tuple[str, str]]:
    """Give each file of tests, by its path in the repository, with its subject."""
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "tests", "rust"]
    listed = subprocess.run(git, cwd=REPOSITORY, capture_output=True, check=True, encoding="utf-8").stdout
    for name in sorted(listed.split("\0")):
        if _TESTS.fullmatch(name) and (REPOSITORY / name).is_file():
            yield name, subject((REPOSITORY / name).read_text(encoding="utf-8"), is_rust=name.endswith(".rs"))


def subject(text: str, *, is_rust: bool) -> str:
    """Return the first paragraph of what a file says of itself; empty if it says nothing."""
    found = (_RUST if is_rust else _PYTHON).match(text)
    if found is None:
        return ""
    said = re.sub(r"^//! ?", "", found[0], flags=re.MULTILINE) if is_rust else found[1]
    return " ".join(said.split())


def recorded(folder: Path) -> list[Timed]:
    """Read the tests that the last run of each target recorded, the slowest first."""
    found = []
    for record in sorted(folder.glob("*.xml")):
        for case in ET.parse(record).iter("testcase"):  # noqa: S314  our own pytest wrote it
            # A class of tests follows the module's name.
            module = re.sub(r"\.[A-Z]\w*", "", case.get("classname", ""))
            found.append(Timed(float(case.get("time", "0")), module.replace(".", "/") + ".py", case.get("name", "")))
    return sorted(found, key=lambda test: -test.seconds)


def main(arguments: list[str]) -> int:
    """Print what is asked for; the exit status is 1 if there is nothing to print."""
    parser = argparse.ArgumentParser(
        prog="list_tests.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="list the files that speak of all the words, in upper or lower case"
    )
    parser.add_argument("--slowest", type=int, metavar="COUNT", help="list this many tests instead, with their times")
    asked = parser.parse_args(arguments)
    tests = recorded(TIMES)
    if asked.slowest is not None:
        slowest = tests[: asked.slowest]
        print("".join(f"{test.seconds:7.1f} s  {test.file}::{test.name}\n" for test in slowest), end="")
        if not slowest:
            print(f"no test is recorded in {TIMES}: the targets of the Makefile record what they run", file=sys.stderr)
        return 0 if slowest else 1
    seconds: dict[str, float] = {}
    for test in tests:
        seconds[test.file] = seconds.get(test.file, 0) + test.seconds
    found = [row for row in rows() if all(word.lower() in " ".join(row).lower() for word in asked.words)]
    for name, said in found:
        took = f"  ({seconds[name]:.1f} s)" if name in seconds else ""
        print(f"{name}{took}\n    {said}")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
