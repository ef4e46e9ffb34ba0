"""Counts lines of Rust code by module: comments, blank lines and tests are left out.

    python scripts/count_code.py [--json] [directory]

The directory is the `src` of a crate; `rust/core/src` if none is given. A module is a file or a directory directly below it.
What stands under `#[cfg(test)]` is a test, in the same file or in files of its own. The source must be formatted by rustfmt.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", type=Path, default=REPOSITORY / "rust" / "core" / "src")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    arguments = parser.parse_args()
    lines = count(arguments.directory.resolve())
    lines["all"] = sum(lines.values())
    if arguments.json:
        print(json.dumps(lines))
        return
    width = max(map(len, lines))
    for module, number in lines.items():
        print(f"{module:<{width}}  {number:>6,}")


if __name__ == "__main__":
    main()
