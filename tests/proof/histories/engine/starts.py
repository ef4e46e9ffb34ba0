"""The process of the engine from outside: started, told, killed, and what it had told by then made into a history."""

from __future__ import annotations

import json
import queue
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Final

from tests.kafka.broker import die_with_parent
from tests.kafka.home import REPOSITORY
from tests.proof.histories.engine.spec import GROUP, Spec
from tests.proof.histories.system import Line

_PATIENCE_S: Final = 180.0
#: Lines that are no events, but tell how things stand.
_NOTES: Final = frozenset({"started", "done", "joined", "asking"})


class Start:
    """Start of the process.

    Attributes:
        lines: the events so far; complete after the end.
    """

    def __init__(self, spec: Spec) -> None:
        self.lines: list[Line] = []
        self._spec = spec
        self._notes: queue.SimpleQueue[str] = queue.SimpleQueue()
        #: Threads of each member that may have asked for something, and acknowledgements without an answer, by thread.
        self._there: list[str] = []
        self._asking: dict[int, Line] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.proof.histories.engine.process"],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - a system call and nothing else
        )
        # No argument: after minutes the log of a run is longer than one may be.
        self._send(spec.line())
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._wait_for("started")

    def tell(self, do: str, **more: Any) -> None:
        """Have it do something, and wait until it has."""
        self._send(json.dumps({"do": do, **more}))
        self._wait_for("done")

    def pause(self) -> None:
        """Stop all its threads where they are."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let them go on."""
        self._process.send_signal(signal.SIGCONT)

    def room(self, beyond: int) -> None:
        """Let its files grow by no more than about so many bytes."""
        size = max(path.stat().st_size for path in Path(self._spec.path).rglob("*") if path.is_file())
        hard = resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (size + beyond, hard))

    def kill(self) -> int:
        """End it as a crash would; the time of its clock until which it may have lived."""
        self._process.kill()
        return self._ended()

    def stop(self) -> int:
        """End it in order; as :meth:`kill`."""
        self.tell("stop")
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._ended()

    def _ended(self) -> int:
        self._process.wait(_PATIENCE_S)
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()
        # Nothing was asked later than what was told last, but for what a thread was about to tell.
        t = max((line["t"] for line in self.lines), default=self._spec.floor) + 1
        t = max(t, *(asked["sent"] + 1 for asked in self._asking.values())) if self._asking else t
        for asked in self._asking.values():
            self.lines.append({**asked, "type": "ack", "t": t, "outcome": "unknown"})
        # Each thread may have taken records of which it could not tell.
        self.lines += [{"type": "gone", "t": t, "group": GROUP, "member": name} for name in self._there]
        return t

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for data in self._process.stdout:
            # A process that is killed leaves half a line: the step it tells of was not told.
            if not data.endswith(b"\n"):
                break
            line = json.loads(data)
            kind = line["type"]
            if kind == "joined":
                self._there.append(line["member"])
            elif kind == "gone":
                self._there.remove(line["member"])
            elif kind == "asking":
                self._asking[line["thread"]] = line
            elif kind == "ack":
                del self._asking[line["thread"]]
            if kind not in _NOTES:
                self.lines.append(line)
            elif kind in {"started", "done"}:
                self._notes.put(kind)
        self._notes.put("ended")

    def _wait_for(self, note: str) -> None:
        found = self._notes.get(timeout=_PATIENCE_S)
        if found != note:
            raise RuntimeError(f"the process has {found} before it has {note}")
