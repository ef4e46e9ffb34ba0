"""NATS JetStream, which people would pick instead: a work queue with explicit acknowledgements, in a Go program with its server.

Its stream is in files and synced with each record (``sync always``). What it answers to a confirmed acknowledgement
(``AckSync``) is measured as it is; it does not wait for the disk.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PROGRAM = Path(__file__).resolve().parents[1] / "nats"
_RECORDS = 100_000

Say = Callable[[str], None]


def nats(say: Say, rounds: int, share: int) -> dict[str, Any]:
    """A row for each round; without rows where there is no Go."""
    if shutil.which("go") is None:
        say("NATS JetStream is left out: it needs Go")
        return {"rows": []}
    with tempfile.TemporaryDirectory(prefix="bench-gateway-") as place:
        program = Path(place) / "nats"
        subprocess.run(["go", "build", "-o", str(program), "."], cwd=_PROGRAM, check=True)
        rows = [_measure(program, Path(place) / str(number), _RECORDS // share) for number in range(min(rounds, 3))]
    for row in rows:
        say(f"NATS JetStream: {row['consume_rate']:,.0f} records/s, {row['publish_rate']:,.0f} published and synced")
    return {"rows": rows}


def _measure(program: Path, directory: Path, records: int) -> dict[str, Any]:
    ran = subprocess.run(
        [str(program), "-records", str(records), "-dir", str(directory)], capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        raise RuntimeError(f"NATS JetStream: {ran.stderr.strip()}")
    found: dict[str, Any] = json.loads(ran.stdout)
    return found
