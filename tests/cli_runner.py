"""Runs the command line as a user does: in a process of its own, warnings as errors."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

COMMAND = [sys.executable, "-W", "error", "-m", "share_state"]


def environment(**extra: str) -> dict[str, str]:
    """The environment without what changes how things look."""
    looks = {"NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS", "LINES"}
    kept = {name: value for name, value in os.environ.items() if name not in looks}
    return {**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1", **extra}


def run(*arguments: str | Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run with both outputs captured apart."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        env=environment(**extra),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


@dataclass
class Process:
    """A command that runs: the line that it begins with, and what it has logged, once it has ended."""

    begins: str
    log: str = ""


@contextmanager
def started(*arguments: str | Path, **extra: str) -> Iterator[Process]:
    """The command as a user starts it, which SIGTERM ends with status 0."""
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        env=environment(**extra),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout is not None
            found = Process(process.stdout.readline())
            yield found
            process.send_signal(signal.SIGTERM)
            _, found.log = process.communicate(timeout=60)
            assert process.returncode == 0, found.log
        finally:
            process.kill()


def run_on_terminal(*arguments: str | Path, columns: int, **extra: str) -> tuple[int, str]:
    """Run with both outputs on a pseudo-terminal; returns the exit status and what the terminal got."""
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            env=environment(**extra),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        )
    finally:
        os.close(theirs)
    received = bytearray()
    try:
        while chunk := _read(ours):
            received += chunk
    finally:
        os.close(ours)
    return process.wait(timeout=120), received.decode("utf-8").replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        # Linux reports the last closing of the other side as EIO.
        return b""
