"""The shim, compiled, and a Python program that runs under it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def compiled(folder: Path) -> Path:
    """The shared library; the gate has a C compiler, and without one this fails."""
    library = folder / "faults.so"
    command = ["cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library), str(HERE / "faults.c"), "-ldl"]
    subprocess.run(command, check=True, timeout=120)
    return library


def lives(library: Path, root: Path, kind: int) -> list[dict[str, Any]]:
    """Rows that `life.py` printed."""
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    ran = subprocess.run(
        [sys.executable, HERE / "life.py", root, str(kind)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return [json.loads(line) for line in ran.stdout.splitlines()]
