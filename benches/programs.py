"""The programs of a run: built once, then started for one operation log and one engine at a time."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.kafka import home

REPOSITORY = Path(__file__).resolve().parents[1]
LOGS = REPOSITORY / "build" / "bench" / "logs"
#: Seconds of a process, its start included, up to which it is run several times.
_SHORT_S = 12.0
#: What every Java engine gets, fixed so that the heap does not grow while time is measured.
HEAP = "4g"

KAFKA = "kafka"
TREE = "tree"
TWIN = "twin"
OFFSET_MAP = "naive_offset_map"
FLAT_VEC = "flat_vec"
SCALAR = "python_scalar"
COLUMNAR = "python_columnar"
KIO = "kio"
#: In the order in which they run: whose results are expected of the others comes first.
ENGINES = (KAFKA, TREE, SCALAR, COLUMNAR, TWIN, OFFSET_MAP, FLAT_VEC, KIO)


class EngineFailedError(Exception):
    """An engine ended without results; the text is what it said last."""


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    rounds: int = 5
    #: Processes of an engine, unless they take long.
    processes: int = 5
    tail_rounds: int = 0
    #: Seconds after which the first replay is given up.
    limit_s: int = 30
    #: Milliseconds of replays before the JVM is timed.
    warm_up_ms: int = 5_000

    def of(self, engine: str) -> Effort:
        """The effort for an engine: the twin and the models, which show a class of complexity, are given up sooner."""
        if engine in (TWIN, OFFSET_MAP, FLAT_VEC):
            return dataclasses.replace(self, limit_s=max(1, self.limit_s // 6))
        return self


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
    """Whether the engine can run here."""
    return engine != KAFKA or bool(_java())


def generate(workload: str, size: int, seed: int, into: str | Path = LOGS) -> Path:
    """The operation log."""
    Path(into).mkdir(parents=True, exist_ok=True)
    path = Path(into) / f"{workload}-{size}-{seed}.oplog"
    _output([str(rust("oplog")), "generate", workload, str(path), "--size", str(size), "--seed", str(seed)])
    return path


def commits(log: Path, durability: str, directory: Path) -> Path:
    """The segment that share_state's store writes of the log, whose commits Kafka's persister appends."""
    _output([str(rust("oplog")), "commits", str(log), str(directory), "--durable", durability])
    (segment,) = directory.glob("*/*.log")
    return segment


def replay(log: Path, engine: str, effort: Effort, expected: str | None, durability: str = "") -> dict[str, Any]:
    """What an engine makes of the log; without `rounds_ns` when its results are not those expected.

    With a durability it is timed while its writes go to a disk, below the directory of the log.
    """
    if durability and engine == KAFKA:
        with TemporaryDirectory(dir=log.parent) as directory:
            segment = commits(log, durability, Path(directory))
            return _replay(log, engine, effort, expected, [durability, str(segment)])
    return _replay(log, engine, effort, expected, ["--durable", durability, "--dir", str(log.parent)] if durability else [])


def _replay(log: Path, engine: str, effort: Effort, expected: str | None, durably: list[str]) -> dict[str, Any]:
    rounds, tails, limit = str(effort.rounds), str(effort.tail_rounds), str(effort.limit_s)
    expect = ["--expect", expected] if expected else []
    options = ["--rounds", rounds, "--tail-rounds", tails, "--limit-s", limit, *expect, *durably]
    if engine == KAFKA:
        main = "kafka.server.share.Bench"
        command = [*_java(), f"-Xms{HEAP}", f"-Xmx{HEAP}", main, str(log), rounds, tails, limit, str(effort.warm_up_ms), "false"]
        command += durably
    elif engine in (SCALAR, COLUMNAR, KIO):
        face = engine.removeprefix("python_")
        command = [sys.executable, "-m", "benches.faces", str(log), "--face", face, *options]
    else:
        command = [str(rust("oplog")), "run", str(log), "--engine", engine, *options]
    if engine == KAFKA:
        return _json(_output(command))
    return _in_processes(command, effort)


def _in_processes(command: list[str], effort: Effort) -> dict[str, Any]:
    """What several processes make of it, one after the other: the median of the rounds of each.

    Where memory lies is drawn again for each process and changes the times of short operations by up to 1.8 times, for all rounds
    of a process alike. A process that takes long is the only one: its operations are not so short.
    """
    began = time.monotonic()
    found = _json(_output(command))
    took = time.monotonic() - began
    if not found.get("rounds_ns"):
        return found
    more = [] if took > _SHORT_S else [_json(_output([*command, "--tail-rounds", "0"])) for _ in range(1, effort.processes)]
    if more:
        found["rounds_ns"] = [round(statistics.median(one["rounds_ns"])) for one in (found, *more)]
        found["processes"] = len(found["rounds_ns"])
    return found


def memory(log: Path, engine: str) -> dict[str, Any]:
    """Bytes that an engine keeps once everything before the first timed operation has happened: `memory_bytes`."""
    if engine == KAFKA:
        command = [*_java(), f"-Xms{HEAP}", f"-Xmx{HEAP}", "kafka.server.share.Bench", str(log), "0", "-1", "0", "0", "false"]
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
