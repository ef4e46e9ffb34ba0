"""Mutants that mypy refuses: no test is run for them, since `make types` would not let them in.

mutmut can ask as well, but it parses every mutated file again to find the function of a line, which takes minutes; where its
functions are it has written down.
"""

from __future__ import annotations

import bisect
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

#: The exit code that stands for it (mutmut: ``caught by type check``).
NO_TYPES: Final = 37
#: The rules of `make types`, but for those that what mutmut writes breaks everywhere, and those that call code redundant.
_MYPY: Final = (
    "--config-file=", "--strict", "--ignore-missing-imports", "--follow-imports=silent", "--no-warn-unused-ignores",
    "--disable-error-code", "no-redef", "--disable-error-code", "has-type", "--output", "json",
)  # fmt: skip


def refuse(folder: Path, modules: Iterable[str]) -> None:
    """Write down which mutants of these modules have no types."""
    modules = list(modules)
    command = [sys.executable, "-m", "mypy", *_MYPY, *modules]
    told = subprocess.run(command, cwd=folder / "mutants", stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if told.returncode not in {0, 1}:
        raise RuntimeError(f"mypy ended with status {told.returncode}")
    errors = [json.loads(line) for line in told.stdout.splitlines() if line.startswith("{")]
    for module in modules:
        lines = [error["line"] for error in errors if error["severity"] == "error" and error["file"] == module]
        _mark(folder / "mutants" / module, lines)


def _mark(source: Path, lines: list[int]) -> None:
    path = source.with_suffix(".py.meta")
    if not path.exists():
        return
    meta: dict[str, Any] = json.loads(path.read_text())
    spans: dict[str, list[int]] = json.loads(source.with_suffix(".py.spans").read_text())["spans"]
    codes: dict[str, int | None] = meta["exit_code_by_key"]
    found = sorted(lines)
    refused = {
        name for name, (first, last) in spans.items() if bisect.bisect_left(found, first) < bisect.bisect_right(found, last)
    }
    if broken := sorted(name for name in refused if name.endswith("_orig")):
        raise ValueError(f"{source}: mypy refuses what is no mutant: {', '.join(broken)}")
    for key, code in codes.items():
        if key.rpartition(".")[2] in refused:
            codes[key] = NO_TYPES
        elif code == NO_TYPES:
            codes[key] = None
    path.write_text(json.dumps(meta, indent=4))
