"""The suites that the judge plays (``rust/proof/judge``): share coordinators and share sessions, without the binding.

Their rules, bytes and memory are all in Rust. Here the judge's word on each scenario becomes part of the report; what the binding
adds is tested in ``tests/state/test_share_coordinator.py`` and ``test_share_sessions.py``.

Recordings of share partitions are played in Python. The judge alone knows what differs on purpose, and is asked where they do.
"""

from __future__ import annotations

import json
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from .recordings import Json
from .report import Deliberate, Difference, Outcome, Skip

#: By file-name prefix.
SUITES = frozenset({"share_coordinator_shard", "share_session"})

_REPOSITORY = Path(__file__).resolve().parents[3]
_MANIFEST = _REPOSITORY / "rust" / "proof" / "judge" / "Cargo.toml"


class Explained(NamedTuple):
    """A deliberate difference that the judge recognises in a recording of share partitions."""

    op_index: int
    partition: int
    rule: str
    what: str
    #: True if the states differ from there on.
    apart: bool


class JudgeFailedError(Exception):
    """The judge cannot be built, or cannot read a file."""


def play(path: Path) -> list[Outcome | Skip]:
    """Result of each scenario of a file, in its order.

    Cargo builds the judge if need be, unoptimised and where its own tests are built.

    Raises:
        JudgeFailedError: the text says why.
    """
    return [_result(case, index) for index, case in enumerate(_cases(path))]


def explained(path: Path) -> list[list[Explained]]:
    """The deliberate differences of each scenario of share partitions of a file, in its order.

    Raises:
        JudgeFailedError: the text says why.
    """
    changed = path.stat()
    return _explained(path, changed.st_mtime_ns, changed.st_size)


@lru_cache(maxsize=16)
def _explained(path: Path, _changed: int, _size: int) -> list[list[Explained]]:
    return [
        [Explained(one["at"], one["partition_index"], one["id"], one["what"], one["apart"]) for one in case]
        for case in _cases(path)
    ]


def _cases(path: Path) -> list[Any]:
    # The directory decides which toolchain cargo takes, and where a relative CARGO_TARGET_DIR is.
    command = ["cargo", "run", "--quiet", "--locked", "--manifest-path", str(_MANIFEST), "--", "cases", str(path.resolve())]
    try:
        ran = subprocess.run(command, capture_output=True, check=False, cwd=_REPOSITORY)
    except OSError as error:
        raise JudgeFailedError(f"cargo: {error}") from error
    if ran.returncode != 0:
        raise JudgeFailedError(ran.stderr.decode("utf-8", "replace").strip())
    cases: list[Any] = json.loads(ran.stdout)
    return cases


def _result(case: Json, index: int) -> Outcome | Skip:
    name = case["name"]
    if "left" in case:
        return Skip(name, case["left"], pre_44=case["before_44"])
    differences = [
        Difference(name, -1 if point["at"] is None else point["at"], point["what"], point["expected"], point["actual"])
        for point in case["differences"]
    ]
    deliberate = [Deliberate(one["at"], one["id"], one["what"]) for one in case.get("deliberate", ())]
    return Outcome(name, index=index, differences=differences, deliberate=deliberate)
