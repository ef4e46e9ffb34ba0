"""Counts lines of code: of one crate by module, or of the whole repository by wing.

    python scripts/count_code.py [--json] [directory]
    python scripts/count_code.py --all [--json]

The directory is the `src` of a crate; `rust/core/src` if none is given. A module is a file or a directory directly below it.
Comments, blank lines and tests are left out. What stands under `#[cfg(test)]` is a test, in the same file or in files of its
own. The source must be formatted by rustfmt.

`--all` counts every line, as `wc -l` does, of every .rs, .py, .java and .go file that git knows or would add, outside
tests/data. The first row of `WINGS` that a path begins with names its wing; a path without a row is an error. *Product* is
what a crate or the package ships, and the examples. *Proof* is the rest: tests, the judge, simulation, fuzzing, benchmarks,
scripts. A file is one of the two as a whole, so a test module inside a file of the product counts as product.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

REPOSITORY = Path(__file__).resolve().parent.parent
_SOURCES: Final = ("*.rs", "*.py", "*.java", "*.go", ":!tests/data")
#: Beginnings of paths, as patterns, with their wings.
WINGS: Final = (
    (
        r"rust/core/(?:src|tests)/(?:partition|deliberate)",
        "partition",
    ),
    (r"rust/core/(?:src|tests)/state", "state"),
    (r"rust/core/(?:src|tests)/groups", "groups"),
    (r"rust/core/src/settings", "settings"),
    (r"rust/core/", "core"),
    (r"rust/(?:proof/)?(analysis|drafts|fuzz|gateway|histories|judge|log|sim|wire)/", r"\1"),
    (r"rust/python/", "binding"),
    (r"python/share_state/(cli|gateway|kafka|operate|spark)/", r"\1"),
    (r"python/", "library"),
    (r"tests/proof/(benches|conformance|histories|judge|mutations)/", r"\1"),
    (r"tests/state/(log)/|tests/kafka/(wire)/|tests/operate/(analysis|cli)/", r"\1\2\3"),
    (r"tests/(gateway|groups|kafka|operate|pages|partition|spark|state)/", r"\1"),
    (r"tests/\w+\.py", "tests"),
    (r"(benches|examples|scripts)/", r"\1"),
)
#: Paths of proof. Of a crate of the product: its tests, in files of their own, and the trials of its log.
_PROOF: Final = re.compile(
    r"(?:benches|scripts|tests)/|rust/(?:proof/)?(?:drafts|fuzz|judge|sim)/|rust/.*(?:/tests/|/trials/|\btests\.rs|_tests\.rs)"
)
_TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*\n(?:\s*#\[[^\n]*\n)*\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*(;|\{)")


def test_files(root: Path) -> set[Path]:
    """Find the files and directories that are modules under `#[cfg(test)]`."""
    found = set()
    for file in root.rglob("*.rs"):
        home = file.parent if file.name in {"mod.rs", "lib.rs", "main.rs"} else file.with_suffix("")
        for name, end in _TEST_MODULE.findall(file.read_text(encoding="utf-8")):
            if end == ";":
                found |= {home / f"{name}.rs", home / name}
    return found


def code_lines(text: str) -> int:
    """Count the lines of a file that hold code and belong to no test."""
    count = 0
    in_comment = in_test = False
    marked = False
    for line in text.splitlines():
        stripped = line.strip()
        if in_test:
            in_test = line != "}"
            continue
        if in_comment:
            in_comment = "*/" not in stripped
            continue
        if not stripped or stripped.startswith("//"):
            continue
        if stripped.startswith("/*"):
            in_comment = "*/" not in stripped
            continue
        if line == "#[cfg(test)]":
            marked = True
            continue
        if marked:
            # What is marked: a module in braces, or an item of one line.
            if stripped.startswith("#["):
                continue
            marked = False
            in_test = stripped.endswith("{")
            continue
        count += 1
    return count


def count(root: Path) -> dict[str, int]:
    """Lines of code by module, the largest first."""
    tests = test_files(root)
    lines: Counter[str] = Counter()
    for file in root.rglob("*.rs"):
        if file in tests or tests & set(file.parents):
            continue
        lines[Path(file.relative_to(root).parts[0]).stem] += code_lines(file.read_text(encoding="utf-8"))
    return dict(lines.most_common())


def wing(path: str) -> str:
    """Return the wing of a file, by its path in the repository."""
    for beginning, name in WINGS:
        if found := re.match(beginning, path):
            return found.expand(name)
    raise LookupError(f"{path}: expected a path that a row of WINGS in {Path(__file__).name} begins")


def count_all(paths: Iterable[str]) -> dict[str, dict[str, int]]:
    """Count the lines of product and proof by wing, the largest wing first, and of all."""
    lines = {"product": Counter[str](), "proof": Counter[str]()}
    for path in paths:
        lines["proof" if _PROOF.match(path) else "product"][wing(path)] += (REPOSITORY / path).read_bytes().count(b"\n")
    both = lines["product"] + lines["proof"]
    rows = {name: {side: lines[side][name] for side in lines} | {"both": number} for name, number in both.most_common()}
    return rows | {"all": {side: lines[side].total() for side in lines} | {"both": both.total()}}


def sources() -> list[str]:
    """List the files of code that git knows or would add and that are there."""
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *_SOURCES]
    listed = subprocess.run(git, cwd=REPOSITORY, capture_output=True, check=True, encoding="utf-8").stdout
    return sorted({name for name in listed.split("\0") if (REPOSITORY / name).is_file()})


def _print_all(rows: dict[str, dict[str, int]]) -> None:
    width = max(map(len, rows))
    print(f"{'':<{width}}  {'product':>8}  {'proof':>8}  {'both':>8}")
    for name, row in rows.items():
        print(f"{name:<{width}}  {row['product']:>8,}  {row['proof']:>8,}  {row['both']:>8,}")


def main() -> int:
    """Print the table; the exit status is 1 if a path has no wing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("directory", nargs="?", type=Path, default=REPOSITORY / "rust" / "core" / "src")
    what.add_argument("--all", action="store_true", help="count every file of code of the repository, by wing")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    arguments = parser.parse_args()
    if arguments.all:
        try:
            rows = count_all(sources())
        except LookupError as unknown:
            print(unknown, file=sys.stderr)
            return 1
        print(json.dumps(rows)) if arguments.json else _print_all(rows)
        return 0
    lines = count(arguments.directory.resolve())
    lines["all"] = sum(lines.values())
    if arguments.json:
        print(json.dumps(lines))
        return 0
    width = max(map(len, lines))
    for module, number in lines.items():
        print(f"{module:<{width}}  {number:>6,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
