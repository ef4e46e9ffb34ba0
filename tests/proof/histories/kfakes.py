"""kfake, the fake broker of franz-go, as a system: a Go program serves it, and its state outlives a crash."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.kafka.broker import die_with_parent, free_ports
from tests.kafka.home import REPOSITORY
from tests.proof.histories.system import Server
from tests.proof.histories.tcp import TcpProxy

_SOURCE: Final = Path(__file__).parent / "kfake"
_PROGRAM: Final = REPOSITORY / "build" / "kfake" / "kfake"
#: Locks that have run out are swept by and by; every five seconds would say nothing about locks.
_SETTINGS: Final[Mapping[str, str]] = {"share.record.lock.sweep.interval.ms": "100"}


def built() -> Path:
    """The program, built by Go from the versions that go.sum pins."""
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if go is None:
        raise RuntimeError("kfake needs Go (1.26 or newer) on the path, and the Go proxy")
    subprocess.run(
        [go, "build", "-o", str(_PROGRAM), "."], cwd=_SOURCE, env={**os.environ, "GOFLAGS": "-mod=readonly"}, check=True
    )
    return _PROGRAM


class Kfake:
    """A kfake in a process of its own, which can be killed and started again on its directory and port."""

    def __init__(self, directory: Path, settings: Mapping[str, str], advertised: str) -> None:
        (port,) = free_ports(1)
        self.bootstrap = f"127.0.0.1:{port}"
        configs = [f"-config={name}={value}" for name, value in settings.items()]
        self._command = [str(built()), f"-port={port}", f"-dir={directory / 'kfake'}", f"-advertise={advertised}", *configs]
        self._log = directory / "kfake.log"
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int:
        """Its id."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it listens."""
        with self._log.open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                encoding="utf-8",
                preexec_fn=die_with_parent,  # noqa: PLW1509 - a system call and nothing else
            )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError(f"kfake did not start: {self._log.read_text(encoding='utf-8')[-2000:]}")

    def kill(self) -> None:
        """End it as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def pause(self) -> None:
        """Stop its threads where they are."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)


@contextmanager
def opened(directory: Path, settings: Mapping[str, str]) -> Iterator[Server]:
    """A kfake that runs inside the ``with``."""
    own = {name: value for name, value in settings.items() if name.startswith("group.share.")}
    with TcpProxy() as proxy:
        process = Kfake(directory, {**own, **_SETTINGS}, proxy.bootstrap)
        host, _, port = process.bootstrap.rpartition(":")
        proxy.server = (host, int(port))
        try:
            process.start()
            # It has one listener, so that what is asked of it directly is led to the proxy as well, but for the first connection.
            yield Server(process, process.bootstrap, proxy)
        finally:
            process.kill()
