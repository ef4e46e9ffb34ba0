"""A gateway as its users start it: a process, which can be killed and started again on its directory and port."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.gateway.patience import PATIENCE_S
from tests.kafka.broker import die_with_parent
from tests.kafka.home import REPOSITORY


class GatewayProcess:
    """A gateway over an upstream; a context manager that ends it.

    Attributes:
        bootstrap: where it serves.
    """

    def __init__(
        self,
        directory: Path,
        upstream: str,
        settings: Mapping[str, str],
        *options: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.bootstrap = "127.0.0.1:0"
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        config = directory / "gateway.properties"
        config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
        self._log = directory / "gateway.log"
        self._command = [
            str(Path(sys.executable).with_name("share-state")), "gateway", "--upstream", upstream,
            "--path", str(directory / "state"), "--config", str(config), *options,
        ]  # fmt: skip
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> Self:
        """Start it; the port stays the same from the first start on."""
        with self._log.open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [*self._command, "--listen", self.bootstrap],
                cwd=REPOSITORY,
                env=self._environment,
                stdout=subprocess.PIPE,
                stderr=log,
                encoding="utf-8",
                preexec_fn=die_with_parent,  # noqa: PLW1509 - a system call and nothing else
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline().split()
        if not line:
            self._process.stdout.close()
            self._process.wait()
            raise RuntimeError(f"the gateway did not start: {self.log()[-2000:]}")
        self.bootstrap = line[-1]
        return self

    @property
    def pid(self) -> int:
        """Id of the process."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._ended()

    def pause(self) -> None:
        """Stop its threads where they are: connections stay open and nothing is answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on after :meth:`pause`."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> int:
        """End it in order (SIGTERM); its exit status."""
        assert self._process is not None
        self._process.terminate()
        return self._ended()

    def log(self) -> str:
        """Text of its log."""
        return self._log.read_text(encoding="utf-8")

    def _ended(self) -> int:
        assert self._process is not None
        status = self._process.wait(PATIENCE_S)
        if self._process.stdout is not None:
            self._process.stdout.close()
        return status

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()
