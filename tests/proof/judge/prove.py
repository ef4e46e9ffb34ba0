"""Proves the judge: breaks one rule of the engine after another, in a copy, and shows that the run finds each.

    python -m tests.proof.judge.prove

The exit status is 1 when a broken rule is not found, and 2 when the text of a rule is not where this page expects it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.kafka.home import REPOSITORY, KafkaMissingError, our_side

from .differential import run


@dataclass(frozen=True, slots=True)
class Break:
    """A rule, and how it is broken."""

    rule: str
    file: str
    right: str
    wrong: str
    profile: str
    sequences: int


BREAKS = (
    Break(
        "the tie rule of the fold: of equal counts the higher state stands",
        "rust/core/src/state/state_batch/batches.rs",
        "    count: i16,\n    state: i8,\n}",
        "    count: i16,\n    state: std::cmp::Reverse<i8>,\n}",
        "combiner",
        50,
    ),
    Break(
        "the throttling bound: half the limit, rounded up",
        "rust/core/src/partition/share_partition/verbs/throttle.rs",
        "delivery_count_limit / 2 + delivery_count_limit % 2",
        "delivery_count_limit / 2",
        "engine",
        4_000,
    ),
    Break(
        "the roll-back: a refused write gives the records back to the member",
        "rust/core/src/partition/share_partition/change/writes.rs",
        "let undone = refused && kind == WriteKind::Confirmed;",
        "let undone = false;",
        "engine",
        1_000,
    ),
    Break(
        "share sessions: a partition with records goes to the end of the order",
        "rust/core/src/groups/share_session/answer.rs",
        "            if has_records {",
        "            if has_error {",
        "session",
        200,
    ),
    Break(
        "the assignor: so many members share a partition that everybody has one",
        "rust/core/src/groups/assignor/shares.rs",
        "members.div_ceil(partitions);\n        let gifts",
        "if members < partitions { 1 } else { members / partitions };\n        let gifts",
        "assignor",
        50,
    ),
    Break(
        "share groups: what is left to subscribe to decides the hash when a member leaves",
        "rust/core/src/groups/share_group/leave.rs",
        "self.hash_without(known, &metadata.subscribed_topics)",
        "{ let _ = self.hash_without(known, &metadata.subscribed_topics); known.metadata_hash() }",
        "group",
        100,
    ),
    Break(
        "share groups: an epoch between the last two of a member is fenced",
        "rust/core/src/groups/share_group/admission.rs",
        "requested < current && requested == previous",
        "requested <= current && requested >= previous",
        "group",
        1_000,
    ),
    Break(
        "a durable store: it is opened with every record of its log",
        "rust/log/src/store/load.rs",
        "self.coordinator.replay_value(offset, key, value);",
        "if offset != 3 { self.coordinator.replay_value(offset, key, value); }",
        "engine",
        50,
    ),
)

#: The crates that the judge leans on.
LEANT_ON = ("core", "log", "wire")

#: Changes that the types need once the first rule is broken; every place is in the same file.
_REVERSED = (
    ("state: batch.delivery_state,", "state: std::cmp::Reverse(batch.delivery_state),"),
    ("delivery_state: run.value.state,", "delivery_state: run.value.state.0,"),
)


def main() -> int:
    """Break, build, run; one rule after the other."""
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        for crate in (*LEANT_ON, "proof/judge"):
            shutil.copytree(REPOSITORY / "rust" / crate, tree / "rust" / crate, ignore=shutil.ignore_patterns("target"))
        shutil.copy(REPOSITORY / "Cargo.toml", tree / "workspace.toml")
        _stand_alone(tree)
        for broken in BREAKS:
            path = tree / broken.file
            source = path.read_text(encoding="utf-8")
            wrong = _break(source, broken)
            if wrong is None:
                print(f"{broken.file} does not hold: {broken.right}", file=sys.stderr)
                return 2
            path.write_text(wrong, encoding="utf-8")
            try:
                program = our_side(tree, REPOSITORY / "build" / "prove")
            except KafkaMissingError as error:
                print(error, file=sys.stderr)
                return 2
            begun = time.monotonic()
            found = run(broken.profile, 1, broken.sequences, 60, shrink=1, program=program)
            seconds = time.monotonic() - begun
            path.write_text(source, encoding="utf-8")
            times = sum(found.unexplained.values())
            missed += times == 0
            print(f"{broken.rule}: {times:,} differences in {found.operations:,} operations, {seconds:.1f} s")
    return int(missed > 0)


def _break(source: str, broken: Break) -> str | None:
    changes = [(broken.right, broken.wrong), *(_REVERSED if "Reverse" in broken.wrong else ())]
    for right, wrong in changes:
        if right not in source:
            return None
        source = source.replace(right, wrong)
    return source


def _stand_alone(tree: Path) -> None:
    """The crates lean on the workspace for what their manifests share; the copy gets a workspace with themselves alone."""
    workspace = (tree / "workspace.toml").read_text(encoding="utf-8")
    parts = workspace[workspace.index("[workspace.package]") :].split("\n[")
    shared = [part for part in parts if not part.startswith("workspace.dependencies]")]
    dependencies = [f'share-state-{crate} = {{ path = "rust/{crate}" }}' for crate in LEANT_ON]
    members = ", ".join(f'"rust/{crate}"' for crate in LEANT_ON)
    text = f'[workspace]\nresolver = "3"\nmembers = [{members}]\nexclude = ["rust/proof/judge"]\n\n' + "\n[".join(shared)
    text += "\n[workspace.dependencies]\n" + "\n".join(dependencies) + "\n"
    (tree / "Cargo.toml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
