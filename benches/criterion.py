"""Replays the rows of the smaller tools with criterion.

python -m benches.criterion [W4] [...]

What is given goes to criterion.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benches import plan, programs


def main() -> int:
    programs.LOGS.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=programs.LOGS) as logs:
        for row in plan.small(programs.TREE):
            programs.generate(row.workload, row.size, seed=1, into=Path(logs))
        command = ["cargo", "bench", "--locked", "-p", "share-state-benches", "--bench", "rows", "--", *sys.argv[1:]]
        return subprocess.run(
            command, cwd=programs.REPOSITORY, env=os.environ | {"SHARE_STATE_OPLOGS": logs}, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
