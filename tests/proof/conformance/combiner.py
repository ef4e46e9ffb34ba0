"""The ``combiner*`` suite: merges of state batches, pure functions of their input."""

from __future__ import annotations

from share_state import StateBatch, combine_state_batches

from .recordings import FormatError, Json, Scenario, require
from .report import Deliberate, Difference, Outcome

LAST_OFFSET = 2**63 - 1
_FIELDS = frozenset({"name", "source", "start_offset", "so_far", "new", "expect", "expect_4.2", "kind", "tags"})


def run(scenario: Scenario) -> Outcome:
    """Runs a merge: trunk's coalesced form exactly."""
    outcome = Outcome(scenario.name)
    raw = scenario.raw
    try:
        require(raw, _FIELDS, "the scenario")
    except FormatError as error:
        outcome.differences.append(Difference(scenario.name, 0, "format", "known", str(error)))
        return outcome
    merged = combine_state_batches(
        [StateBatch(*batch) for batch in raw["so_far"]],
        [StateBatch(*batch) for batch in raw["new"]],
        raw["start_offset"],
    )
    actual = [list(batch) for batch in merged]
    expected = raw["expect"]
    if actual != expected and (deliberate := _deliberate(raw)) is not None:
        outcome.deliberate.append(deliberate)
    elif actual != expected:
        outcome.differences.append(Difference(scenario.name, 0, "merge", expected, actual))
    return outcome


def _deliberate(raw: Json) -> Deliberate | None:
    """M1: an inverted batch has no part in a merge. M2: batches may reach the last offset there is, where Kafka throws."""
    batches = [*raw["so_far"], *raw["new"]]
    if any(last < first for first, last, *_ in batches):
        return Deliberate(0, "M1", "an inverted batch is merged")
    threw = isinstance(raw["expect"], dict) and "error" in raw["expect"]
    if threw and any(last == LAST_OFFSET for _, last, *_ in batches):
        return Deliberate(0, "M2", "the last offset there is")
    return None
