"""The programs of a run: built once, then started for one operation log and one engine at a time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.kafka import home

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parents[1]
LOGS = REPOSITORY / "build" / "bench" / "logs"
#: Heap of every Java engine, fixed so that it does not grow while time is measured.
HEAP = "4g"

KAFKA = "kafka"
TREE = "tree"
TWIN = "twin"
SCALAR = "python_scalar"
COLUMNAR = "python_columnar"
KIO = "kio"
#: In the order in which they run: whose results are expected of the others comes first.
ENGINES = (KAFKA, TREE, SCALAR, COLUMNAR, TWIN, KIO)


class EngineFailedError(Exception):
    """An engine ended without results; the text is what it said last."""


@cache
def rust(name: str) -> Path:
    """A program of `benches/rust`, built."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise EngineFailedError("cargo was not found")
    subprocess.run(
        [cargo, "build", "--release", "--locked", "--quiet", "-p", "share-state-benches", "--bin", name],
        cwd=REPOSITORY,
        check=True,
    )
    target = Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target")
    return target / "release" / name


@cache
def _java() -> list[str]:
    """Kafka's own classes, or nothing where there is no JDK or Maven."""
    try:
        classes = home.compiled("bench", REPOSITORY / "benches" / "java")
        classpath = f"{classes}{os.pathsep}{home.libraries(home.JUDGE)}/*"
        return [home.java(), "-XX:+UseG1GC", "-cp", classpath]
    except home.KafkaMissingError as error:
        print(f"Kafka's classes are left out: {error}", file=sys.stderr)
        return []


def has(engine: str) -> bool:
    """Return true if the engine can run here."""
    return engine != KAFKA or bool(_java())


def generate(workload: str, size: int, seed: int, into: str | Path = LOGS, *, writes: int = 2_000) -> Path:
    """The operation log. Workloads that can go to a disk have so many writes."""
    Path(into).mkdir(parents=True, exist_ok=True)
    path = Path(into) / f"{workload}-{size}-{seed}.oplog"
    _output(
        [str(rust("oplog")), "generate", workload, str(path), "--size", str(size), "--seed", str(seed), "--writes", str(writes)]
    )
    return path


def commits(log: Path, durability: str, directory: Path) -> None:
    """Leave in a directory the store that share_state writes of the log, whose commits Kafka's persister appends."""
    _output([str(rust("oplog")), "commits", str(log), str(directory), "--durable", durability])


class Running:
    """A process that has replayed a log once, for its results, and answers what is asked of it."""

    def __init__(self, process: subprocess.Popen[str], errors: Path) -> None:
        self._process, self._errors = process, errors
        self.results = self._answer()

    def ask(self, what: str, times: int = 1) -> dict[str, Any]:
        """`replays`, `tails` or `threads`."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{what} {times}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            # Kafka's classes may log before it.
            if line.startswith("{"):
                found: dict[str, Any] = json.loads(line)
                return found
        last = self._errors.read_text(encoding="utf-8").strip().splitlines()[-5:]
        raise EngineFailedError(f"{self._process.args!r}: exit status {self._process.wait()}\n" + "\n".join(last))


@contextmanager
def running(log: Path, engine: str, limit_s: int, durability: str = "") -> Iterator[Running]:
    """A process of an engine with a log; with a durability its replays write to a disk, below the directory of the log."""
    with TemporaryDirectory(dir=log.parent) as directory:
        durably = ["--durable", durability, "--dir", directory] if durability else []
        if engine == KAFKA:
            command = [*_java(), f"-Xms{HEAP}", f"-Xmx{HEAP}", "kafka.server.share.Bench", str(log), str(limit_s)]
            if durability:
                commits(log, durability, Path(directory))
                command += [durability, directory]
        elif engine in (SCALAR, COLUMNAR, KIO):
            face = engine.removeprefix("python_")
            command = [sys.executable, "-m", "benches.faces", str(log), "--face", face, "--limit-s", str(limit_s), *durably]
        else:
            command = [str(rust("oplog")), "run", str(log), "--engine", engine, "--limit-s", str(limit_s), *durably]
        # What it says of errors goes to a file: a pipe that nobody reads would fill.
        said = Path(directory) / "stderr"
        with said.open("w", encoding="utf-8") as errors:
            process = subprocess.Popen(
                command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
            try:
                yield Running(process, said)
            finally:
                process.kill()
                process.communicate()


def memory(log: Path, engine: str) -> dict[str, Any]:
    """Bytes that an engine keeps once everything before the first timed operation has happened: `memory_bytes`."""
    if engine == KAFKA:
        command = [*_java(), f"-Xms{HEAP}", f"-Xmx{HEAP}", "kafka.server.share.Bench", str(log), "memory"]
    else:
        command = [str(rust("oplog_memory")), str(log), "--engine", engine]
    return _json(_output(command))


def state_log(what: str, *options: str) -> dict[str, Any]:
    """A measurement of the embedded log, which has no operation log."""
    LOGS.mkdir(parents=True, exist_ok=True)
    return _json(_output([str(rust("state_log")), what, "--dir", str(LOGS), *options]))


def _json(text: str) -> dict[str, Any]:
    """The last line: Kafka's classes may log before it."""
    found: dict[str, Any] = json.loads(text.strip().splitlines()[-1])
    return found


def _output(command: list[str]) -> str:
    ran = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        last = (ran.stderr or ran.stdout).strip().splitlines()[-5:]
        raise EngineFailedError(f"{' '.join(command[:4])} …: exit status {ran.returncode}\n" + "\n".join(last))
    return ran.stdout
