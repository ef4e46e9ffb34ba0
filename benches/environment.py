"""On what machine, with which versions and when something was measured."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from benches.provenance import DIRTY
from tests.kafka.home import JUDGE

REPOSITORY = Path(__file__).resolve().parents[1]


def read() -> dict[str, str | float | int]:
    """Everything that a figure rests on."""
    return {
        **_fixed(),
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "load": round(os.getloadavg()[0], 1),
    }


@cache
def _fixed() -> dict[str, str | int]:
    return {
        "cpu": processor(),
        "cpus": os.cpu_count() or 0,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "rust": compiler(),
        "java": _said(["java", "-version"]),
        "kafka": JUDGE,
        "commit": code(),
    }


#: Files that a run renews itself: they say nothing of the code that was measured.
_RENEWED = tuple(f":(exclude){path}" for path in ("benches/results", "docs", "README.md"))


def code() -> str:
    """The last commit that changed more than results and pages, marked where the tree differs from it."""
    return f"{_git('log', '-1', '--format=%h', '--', '.', *_RENEWED)}{DIRTY if changes() else ''}"


def changes() -> str:
    """The first path that differs from the commit, or nothing."""
    return _git("status", "--porcelain", "--", ".", *_RENEWED)


def _git(*arguments: str) -> str:
    return _said(["git", "-C", str(REPOSITORY), *arguments])


def compiler() -> str:
    """The Rust compiler that runs in this tree."""
    return _said(["rustc", "--version"], cwd=REPOSITORY)


def processor() -> str:
    """The model of the processor."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _said(command: list[str], cwd: Path | None = None) -> str:
    """The first line that a program says, or nothing where it is not there."""
    if shutil.which(command[0]) is None:
        return ""
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    return (ran.stdout or ran.stderr).partition("\n")[0].strip()
