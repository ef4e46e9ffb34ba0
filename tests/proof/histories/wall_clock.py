"""A wall clock of its own for a server's process, which steps; the monotonic clock is left alone.

libfaketime 0.9.10 does it for a JVM, but under it Python's ``time.sleep`` fails with EINVAL.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).with_suffix(".c")


class WallClock:
    """Begins with the system's time.

    Args:
        directory: for the shim, compiled, and the file that tells it the time.

    Attributes:
        environment: of the process whose clock it is.
    """

    def __init__(self, directory: Path) -> None:
        library, self._file = directory / "wall_clock.so", directory / "wall_clock"
        command = ["cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-ldl"]
        subprocess.run(command, check=True)
        self.put(0)
        self.environment: Mapping[str, str] = {"LD_PRELOAD": str(library), "SHARE_STATE_WALL_CLOCK": str(self._file)}

    def put(self, milliseconds: int) -> None:
        """Let it be so much later than the system's clock, or earlier."""
        # In place: the process has the file in its memory.
        with self._file.open("r+b" if self._file.exists() else "wb") as file:
            file.write(struct.pack("=q", milliseconds * 1_000_000))
