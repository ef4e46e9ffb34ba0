"""Deliberate differences from a recording, recognised by what happens and never by a name.

The letters are those of ``docs/deliberate-differences.md``.

* **V2, refusal is free.** Kafka takes the ranges of an acknowledgement one by one. When one fails it undoes the changes
  of state of those before it, but not their renewals (§1.10 step 7). With us a call that returns an error has changed
  nothing, and one bad range of many undoes all of them (bad input D2.21), so a refused request renews nothing. A member
  whose request is refused can send its renewals again; :func:`renewals_kept` says which ones Kafka kept, and the
  adapter sends these as a request of their own, so that the rest of the sequence can be compared as recorded.
* **K2, something available below the start offset.** A write is refused after the locks of its records ran out and the
  log start passed them. Kafka gives them back as available below its start offset, where its next fetch offset then
  points (recorded as quirk K2 from the first question for it on). With us such a record is archived, as every other
  record is that is given back below the start offset (§1.1). :func:`as_ours` reads the recorded state so.
* **N1, no exception for a hole** (§8 point 7). Where nothing is cached at the start offset Kafka dereferences null (§1.10
  step 3); the request is refused as one for records that are not held. :func:`refused_where_kafka_throws`.
* **S9, one that does not serve says so.** The recordings are of Kafka's class, which its manager fences and asks no more:
  ``fencing.py``, and the operations that ask one which is not active.

What differs because several start offsets are sound stands in ``sound_starts.py``, what the recorder's clocks did in
``foresight.py`` and ``splits.py``, and the outcomes of single probes in ``probe_outcomes.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from share_state import RecordState, SharePartition

from .effective import EffectiveRun, PartitionState, coalesce
from .kafka_names import INVALID_RECORD_STATE, INVALID_REQUEST

RENEW = 4

#: Differences recognised here and in ``sound_starts.py``, in the judge's words (``rust/proof/judge/src/deliberate``). A recording
#: tells less than the judge sees, so the two have predicates of their own; a test holds that they agree on exported cases.
RECOGNISED = frozenset(
    {
        ("K2", "available below the start offset"),
        ("N1", "an acknowledgement across the start offset"),
        ("S8", "the start offset is ahead"),
        ("V2", "renewals of a refused request"),
    }
)

#: First offset, last offset, one acknowledge type for all or one for each.
Range = tuple[int, int, list[int]]


def renewals_kept(partition: SharePartition, member: str, batches: Sequence[Range]) -> list[tuple[int, int]]:
    """The renewals that Kafka keeps of a request it refuses: those before the first record that cannot be acknowledged.

    ``partition`` is as it was before the request. Holes are passed over, and what lies below the start offset is no
    member's affair.
    """
    kept: list[tuple[int, int]] = []
    runs = partition.in_flight()
    for first, last, types in batches:
        if last < partition.start_offset:
            continue
        # Kafka looks for both ends of a range before it touches any record of it.
        if not runs or max(first, partition.start_offset) < runs[0].first_offset:
            return kept
        if not any(run.first_offset <= last <= run.last_offset for run in runs):
            return kept
        for run in runs:
            low, high = max(first, partition.start_offset, run.first_offset), min(last, run.last_offset)
            if low > high:
                continue
            if run.state != RecordState.ACQUIRED or run.pending or run.member != member:
                return kept
            kept += _renewed(first, low, high, types)
    return kept


def _renewed(first: int, low: int, high: int, types: list[int]) -> Iterator[tuple[int, int]]:
    """The stretches of ``[low, high]`` whose type is RENEW, in a range that begins at ``first``."""
    if len(types) == 1:
        if types[0] == RENEW:
            yield low, high
        return
    begin: int | None = None
    for offset in range(low, high + 2):
        renews = offset <= high and types[offset - first : offset - first + 1] == [RENEW]
        if renews and begin is None:
            begin = offset
        elif not renews and begin is not None:
            yield begin, offset - 1
            begin = None


def refused_where_kafka_throws(recorded: object, our_code: int | None) -> bool:
    """Returns true if Kafka failed on an acknowledgement by a null pointer and we refuse it properly (N1)."""
    return recorded == {"error": "NullPointerException"} and our_code in (INVALID_RECORD_STATE, INVALID_REQUEST)


def as_ours(state: PartitionState) -> PartitionState:
    """The recorded state with everything available below the start offset taken as archived (K2)."""
    if not any(_given_back_below(run, state.start_offset) for run in state.runs):
        return state
    read: list[EffectiveRun] = []
    for run in state.runs:
        if not _given_back_below(run, state.start_offset):
            read.append(run)
            continue
        read.append(replace(run, last=min(run.last, state.start_offset - 1), state="ARCHIVED"))
        if run.last >= state.start_offset:
            read.append(replace(run, first=state.start_offset))
    return replace(state, runs=coalesce(read))


def _given_back_below(run: EffectiveRun, start_offset: int) -> bool:
    return run.state == "AVAILABLE" and not run.pending and run.first < start_offset
