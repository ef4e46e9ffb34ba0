"""A command on a pseudo-terminal that has keys: all three streams are the terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli_runner import COMMAND, environment

_PATIENCE_S = 60


class Terminal:
    """Terminal of a person: a screen and keys."""

    def __init__(self, process: subprocess.Popen[bytes], ours: int) -> None:
        self.process = process
        self._ours = ours
        self.received = ""

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def sees(self, *words: str) -> None:
        """Read until all words came; what was read before counts no more."""
        self.received = ""
        until = time.monotonic() + _PATIENCE_S
        while not all(word in self.received for word in words):
            if not self._read(until):
                raise AssertionError(f"{words} did not come: … {self.received[-2000:]!r}")

    def ended(self) -> int:
        """Read to the end and return the exit status."""
        self.received = ""
        until = time.monotonic() + _PATIENCE_S
        while self._read(until):
            pass
        return self.process.wait(_PATIENCE_S)

    def _read(self, until: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], max(0, until - time.monotonic()))
        try:
            found = os.read(self._ours, 65536) if ready else b""
        except OSError:
            # Linux reports the last closing of the other side as EIO.
            found = b""
        self.received += found.decode("utf-8", "replace")
        return bool(found)


@contextmanager
def on_terminal(*arguments: str | Path, columns: int = 80, lines: int = 24, **extra: str) -> Iterator[Terminal]:
    """Run a command, and end it."""
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            env=environment(**extra),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
    finally:
        os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(ours)
