"""The gateway's process: `share-state gateway`, started, killed, and started again on the same port and directory."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from examples.gateway.plan import PROPERTIES, Plan

_START_SECONDS = 30.0


class GatewayError(Exception):
    """The gateway did not do what it should."""


class Gateway:
    """Gateway with one directory and one port; a context manager that leaves no process."""

    def __init__(self, plan: Plan, upstream: str) -> None:
        self._upstream = upstream
        self._state = plan.state
        self._log = plan.directory / "gateway.log"
        self._config = plan.directory / "gateway.properties"
        self._config.write_text(PROPERTIES, encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None
        #: `HOST:PORT`, the same after a restart.
        self.bootstrap_servers = "127.0.0.1:0"

    def start(self) -> None:
        """Start it, and wait until it serves.

        Raises:
            GatewayError: it does not.
        """
        options = ["--upstream", self._upstream, "--listen", self.bootstrap_servers, "--path", str(self._state)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "share_state", "gateway", *options, "--config", str(self._config)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                # Ctrl-C is for the parent, which ends it.
                start_new_session=True,
            )
        line = _first_line(self._process)
        if not line.startswith("serving share groups on "):
            raise GatewayError(f"the gateway did not start; {_named(self._log)} says why")
        self.bootstrap_servers = line.split()[-1]

    def generation(self) -> int:
        """Read the number of its last start, which clients see as the leader epoch."""
        identity = json.loads((self._state / "gateway" / "identity.json").read_text(encoding="utf-8"))
        return int(identity["generation"])

    def kill(self) -> int:
        """End it with SIGKILL; gives the exit status as `subprocess` does."""
        return self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ask it to end with SIGTERM."""
        return self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> int:
        if self._process is None:
            return 0
        process, self._process = self._process, None
        process.send_signal(how)
        try:
            return process.wait(_START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()
        finally:
            if process.stdout is not None:
                process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()


def _first_line(process: subprocess.Popen[bytes]) -> str:
    """Read a line, or what there is of it when the process ends or takes too long."""
    if process.stdout is None:
        return ""
    deadline, line, pipe = time.monotonic() + _START_SECONDS, b"", process.stdout.fileno()
    while not line.endswith(b"\n") and (left := deadline - time.monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            more = os.read(pipe, 1024)
            if not more:
                break
            line += more
    return line.decode(errors="replace")


def _named(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
