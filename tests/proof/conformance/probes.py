"""The ``probes_reference_quirks*`` suite: *our* outcome where Kafka's is a defect or undefined."""

from __future__ import annotations

from typing import Any

from . import share_partition
from .probe_outcomes import AGREED, AGREED_PREFIXES, COMPARED_UP_TO, OUTCOMES, Patch
from .recordings import Json, Scenario
from .report import Outcome, Skip
from .ways import Way


def run(scenario: Scenario, way: Way) -> Outcome | Skip:
    """Replay a probe with our outcome in place of Kafka's."""
    ops, compared = with_our_outcome(scenario)
    raw: dict[str, Any] = {**scenario.raw, "ops": ops}
    patched = Scenario(scenario.name, scenario.index, raw)
    return share_partition.replay(patched, way, compared=compared)


def with_our_outcome(scenario: Scenario) -> tuple[list[Json], int]:
    """The operations to replay and how many of them to compare."""
    name = scenario.name
    if name in OUTCOMES:
        ops = _patched(scenario.ops, OUTCOMES[name])
        return ops, len(ops)
    if name in COMPARED_UP_TO:
        return scenario.ops, COMPARED_UP_TO[name]
    if name in AGREED or name.startswith(AGREED_PREFIXES):
        return scenario.ops, len(scenario.ops)
    # A probe nobody has documented: no invariant may break and every refusal must be a typed one.
    return scenario.ops, 0


def _patched(ops: list[Json], patches: dict[int, Patch | None]) -> list[Json]:
    unknown = [index for index in patches if index >= len(ops)]
    if unknown:
        raise ValueError(f"the probe has {len(ops)} operations, no {unknown}")
    patched: list[Json] = []
    for index, op in enumerate(ops):
        patch = patches.get(index, {})
        if patch is None:
            continue
        merged = {**op, **patch}
        patched.append({name: value for name, value in merged.items() if value is not None})
    return patched
