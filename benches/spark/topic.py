"""Logs of the state topic to be folded, and the one process of Rust that ours is compared with."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.programs import EngineFailedError, rust

__all__ = ["PARTITIONS", "Log", "fold_seconds", "pinned", "write"]

#: State partitions, of Kafka's 50: enough for two cores, and few enough that their tasks do not hide what a record costs.
PARTITIONS = 16
#: Kafka's `share.coordinator.state.topic.segment.bytes`.
_SEGMENT_BYTES = 100 << 20
_SEED = 1


@dataclass(frozen=True)
class Log:
    """A state topic of so many records of so many share partitions."""

    records: int
    keys: int

    def place(self, under: Path) -> Path:
        return under / f"{self.records}-{self.keys}"


def write(log: Log, under: Path) -> dict[str, Any]:
    """Write a log unless it is there; bytes and seconds."""
    place = log.place(under)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    sizes = ["--records", str(log.records), "--keys", str(log.keys), "--partitions", str(PARTITIONS)]
    made = _said([str(rust("state_topic")), "write", "--dir", str(place), *sizes, "--seed", str(_SEED),
                  "--segment-bytes", str(_SEGMENT_BYTES)])  # fmt: skip
    return {"records": log.records, "keys": log.keys, "bytes": made["bytes"], "seconds": made["rounds_ns"][0] / 1e9}


def fold_seconds(log: Log, under: Path, cores: int, rounds: int) -> list[float]:
    """Seconds of one process of Rust with as many threads as cores, and no core more."""
    options = ["--rounds", str(rounds), "--threads", str(cores)]
    said = _said([*pinned(cores), str(rust("state_topic")), "fold", "--dir", str(log.place(under)), *options])
    if said["records"] != log.records:
        raise EngineFailedError(f"{said['records']} records were folded of {log.records}")
    return [one / 1e9 for one in said["rounds_ns"]]


def pinned(cores: int) -> list[str]:
    """Return the words before a command that keep it to the first cores."""
    if shutil.which("taskset") is None:
        raise EngineFailedError("taskset (util-linux) was not found: without it a process is not kept to its cores")
    return ["taskset", "--cpu-list", f"0-{cores - 1}"]


def _said(command: Sequence[str]) -> dict[str, Any]:
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise EngineFailedError(f"{' '.join(command[:6])} …: {ran.stderr.strip()}")
    said: dict[str, Any] = json.loads(ran.stdout)
    return said
