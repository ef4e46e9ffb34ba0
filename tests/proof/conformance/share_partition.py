"""The ``share_partition*`` suite: replay a scenario and compare after every operation."""

from __future__ import annotations

from collections.abc import Iterable

from share_state.errors import EnginePoisonedError, ShareStateError

from . import judged
from .deliberate import as_ours
from .effective import PartitionState, compare
from .explanations import Explanations
from .operations import Replay
from .partition import PartitionUnderTest
from .recordings import FormatError, Json, NotDrivable, Recording, Scenario
from .report import Difference, Outcome, Skip
from .schema import check_share_partition
from .skips import skip_reason
from .ways import Way

#: Differences shown of one scenario; later ones mostly follow from the first.
MAX_DIFFERENCES = 3


def run(recording: Recording, scenario: Scenario, way: Way) -> Outcome | Skip:
    """Plays a scenario in one way."""
    reason = skip_reason(scenario)
    if reason is not None:
        return Skip(scenario.name, reason)
    explained = Explanations(lambda: judged.explained(recording.path)[scenario.index])
    return replay(scenario, way, compared=comparable_operations(scenario), explained=explained)


def comparable_operations(scenario: Scenario) -> int:
    """Number of operations to compare: up to where Kafka itself broke an invariant.

    After that point only our own invariants are asked for.
    """
    if scenario.raw.get("reference_quirks"):
        return int(scenario.raw["quirk_at_op"])
    return len(scenario.ops)


def replay(scenario: Scenario, way: Way, compared: int, explained: Explanations | None = None) -> Outcome | Skip:
    """Drive every operation, compare the first ``compared`` of them, check the invariants at each.

    A share partition whose state differs on purpose is not compared from there on.
    """
    outcome = Outcome(scenario.name, str(way))
    try:
        check_share_partition(scenario)
    except FormatError as error:
        outcome.differences.append(Difference(scenario.name, -1, "format", "known", str(error)))
        return outcome
    run_of = Replay(way, scenario.ops)
    explained = explained or Explanations(lambda: ())
    for index, op in enumerate(scenario.ops):
        number = op.get("partition_index", 0)
        if op["op"] == "create":
            explained.begin(number, index)
        asked = index < compared and number not in explained.apart
        moved = False
        try:
            points, moved = _step(run_of, index, strict=index < compared, explained=explained)
        except NotDrivable as error:
            if asked:
                return outcome if outcome.differences else Skip(scenario.name, str(error))
            if index >= compared:
                # After a quirk of Kafka's there is nothing left to agree with.
                break
            continue
        except EnginePoisonedError as error:
            points = [("the engine panicked", "an answer", repr(error))]
        except ShareStateError as error:
            if not asked or explained.explains(number, index):
                # The recorded calls need not fit our state any more.
                continue
            points = [("refused", "an answer", repr(error))]
        except FormatError as error:
            points = [("format", "known", str(error))]
        outcome.start_offset_only = outcome.start_offset_only or moved
        what = op["op"]
        outcome.differences += [
            Difference(scenario.name, index, f"{what}: {point}", expected, actual) for point, expected, actual in points
        ]
        if len(outcome.differences) >= MAX_DIFFERENCES:
            break
    outcome.deliberate = explained.met
    return outcome


def _step(run_of: Replay, index: int, strict: bool, explained: Explanations) -> tuple[list[tuple[str, object, object]], bool]:
    """Plays an operation; returns the points in which it differs and whether only the start offset moved."""
    op = run_of.ops[index]
    run_of.run(index)
    _take_recorded_states(run_of, op)
    points: list[tuple[str, object, object]] = []
    moved = False
    for number, under_test in _to_compare(run_of, op):
        where = "" if len(run_of.partitions) == 1 else f"partition {number}: "
        state = under_test.state()
        found = under_test.noticed
        under_test.noticed = []
        asked = strict and number not in explained.apart
        if asked and under_test.recorded is not None and not run_of.is_half_answered(under_test):
            comparison = compare(under_test.recorded, state)
            found += comparison.points
            moved = moved or comparison.start_offset_only
        if not asked or (any(_is_of_kafka(point) for point in found) and explained.explains(number, index)):
            found = [point for point in found if not _is_of_kafka(point)]
        found += under_test.invariants.check(under_test.partition, state)
        points += [(f"{where}{what}", expected, actual) for what, expected, actual in found]
    return points, moved


def _is_of_kafka(point: tuple[str, object, object]) -> bool:
    """Returns true if it is a difference from what was recorded, and no broken invariant of ours."""
    return not point[0].startswith("invariant")


def _take_recorded_states(run_of: Replay, op: Json) -> None:
    """A recording gives a state only where it changed; each partition remembers its last one."""
    states: list[tuple[int, Json]] = [(s["partition_index"], s) for s in op.get("states", ())]
    if "state" in op:
        states.append((op.get("partition_index", 0), op["state"]))
    for index, state in states:
        if index in run_of.partitions:
            run_of.partitions[index].recorded = as_ours(PartitionState.recorded(state))
            run_of.partitions[index].recorded_batches = state["batches"]


def _to_compare(run_of: Replay, op: Json) -> Iterable[tuple[int, PartitionUnderTest]]:
    """Time and late answers may change every share partition, other operations only their own."""
    if op["op"] in ("advance_clock", "persister_completes", "lock_timeout"):
        return list(run_of.partitions.items())
    index = op.get("partition_index", 0)
    return [(index, run_of.partitions[index])] if index in run_of.partitions else []
