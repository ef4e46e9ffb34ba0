"""The suites that the judge plays (``rust/proof/judge``), without the binding: all but merges, small facts and share consumers.

Their rules, bytes and memory are all in Rust, and so are the deliberate differences. The judge plays share partitions on both
stores, in both forms of a member's call and over a durable store. Here its word on each scenario becomes part of the report; what
the binding adds is tested in ``tests/partition``, ``tests/state/test_share_coordinator.py`` and
``tests/groups/test_share_sessions.py``.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from .recordings import Json
from .report import Deliberate, Difference, Outcome, Skip

#: By file-name prefix.
SUITES = frozenset(
    {
        "offsets_manager",
        "probes_reference_quirks",
        "record_serde",
        "share_coordinator_shard",
        "share_partition",
        "share_session",
        "simple_assignor",
    }
)

_REPOSITORY = Path(__file__).resolve().parents[3]
_MANIFEST = _REPOSITORY / "rust" / "proof" / "judge" / "Cargo.toml"


class JudgeFailedError(Exception):
    """The judge cannot be built, or cannot read a file."""


def play(path: Path) -> list[Outcome | Skip]:
    """Result of each scenario of a file, in its order.

    Cargo builds the judge if need be, unoptimised and where its own tests are built.

    Raises:
        JudgeFailedError: the text says why.
    """
    # The directory decides which toolchain cargo takes, and where a relative CARGO_TARGET_DIR is.
    command = ["cargo", "run", "--quiet", "--locked", "--manifest-path", str(_MANIFEST), "--", "cases", str(path.resolve())]
    try:
        ran = subprocess.run(command, capture_output=True, check=False, cwd=_REPOSITORY)
    except OSError as error:
        raise JudgeFailedError(f"cargo: {error}") from error
    if ran.returncode != 0:
        raise JudgeFailedError(ran.stderr.decode("utf-8", "replace").strip())
    return [_result(case, index) for index, case in enumerate(json.loads(ran.stdout))]


def _result(case: Json, index: int) -> Outcome | Skip:
    name = case["name"]
    if "left" in case:
        return Skip(name, case["left"], announced=case["announced"])
    differences = [
        Difference(name, -1 if point["at"] is None else point["at"], point["what"], point["expected"], point["actual"])
        for point in case["differences"]
    ]
    deliberate = [Deliberate(one["at"], one["id"], one["what"]) for one in case["deliberate"]]
    return Outcome(name, index=index, differences=differences, deliberate=deliberate)
