"""Did it go as it must? The gateway's log and the members' journals are held against each other.

Nothing here asks the gateway. Every check names what speaks against it, so that it can fail.
"""

import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from examples.demo.history import SETTLED, History
from examples.demo.verdict import Check
from examples.gateway.journal import Entry, Event, lost_locks
from examples.gateway.plan import DELIVERY_COUNT_LIMIT, GROUP, PARTITIONS, Part, Place, Plan, members
from examples.gateway.supervise import Run, is_settled
from share_state import AcknowledgeType, RecordState


@dataclass(frozen=True, slots=True)
class Evidence:
    """All there is to judge by."""

    plan: Plan
    run: Run
    #: Histories of the records of each partition, as the gateway's log has them.
    histories: Mapping[int, History]
    #: The rows of `share-state state` for the gateway's directory.
    states: Sequence[Mapping[str, Any]]


def judge(evidence: Evidence) -> list[Check]:
    """Check every property, also after one has failed."""
    return [Check(name, against(evidence)) for name, against in _CHECKS.items()]


def _killed_half_way(evidence: Evidence) -> str:
    run, records = evidence.run, evidence.plan.records
    if run.gateway_exits != (-signal.SIGKILL, 0):
        return f"the gateway ended with {run.gateway_exits}"
    wanted = {name: -signal.SIGKILL if part is Part.IS_KILLED else 0 for name, part in members().items()}
    if run.member_exits != wanted:
        return f"the members ended with {run.member_exits}"
    return "" if 0 < run.settled_before < records else f"{run.settled_before} of {records} records were settled before the kill"


def _none_vanished(evidence: Evidence) -> str:
    delivered = {place for entry in _of(evidence, Event.DELIVERED) for place in entry.places}
    return _places(evidence.plan.places ^ delivered)


def _as_produced(evidence: Evidence) -> str:
    return _places(place for entry in _of(evidence, Event.GARBLED) for place in entry.places)


def _all_ended(evidence: Evidence) -> str:
    ended = _with(evidence, *SETTLED)
    return _places(evidence.plan.places - ended)


def _none_reopened(evidence: Evidence) -> str:
    return _places(Place(partition, offset) for partition, history in evidence.histories.items() for offset in history.reopened)


def _none_after_its_end(evidence: Evidence) -> str:
    settled: set[Place] = set()
    wrong: set[Place] = set()
    for entry in evidence.run.entries:
        if entry.event is Event.DELIVERED:
            wrong.update(settled.intersection(entry.places))
        elif entry.settles:
            settled.update(entry.places)
    return _places(wrong)


def _as_the_members_say(evidence: Evidence) -> str:
    """Expect what was confirmed in the log, and nothing in the log that nobody asked for."""
    acknowledged, archived = _with(evidence, RecordState.ACKNOWLEDGED), _with(evidence, RecordState.ARCHIVED)
    at_the_limit = {
        place
        for entry in _of(evidence, Event.DELIVERED)
        if entry.delivery_count == DELIVERY_COUNT_LIMIT
        for place in entry.places
    }
    return _places(
        (_answers(evidence, Event.CONFIRMED, AcknowledgeType.ACCEPT) - acknowledged)
        | (_answers(evidence, Event.CONFIRMED, AcknowledgeType.REJECT) - archived)
        | (acknowledged - _answers(evidence, Event.SENT, AcknowledgeType.ACCEPT))
        | (archived - _answers(evidence, Event.SENT, AcknowledgeType.REJECT) - at_the_limit)
    )


def _counts_go_up(evidence: Evidence) -> str:
    """Expect each count once in one life of the gateway, without a gap, from 1 on, and none beyond the limit.

    A kill may take back a count that was not written: the deliveries of the records that were in hand. So the second life
    begins at some count that is at most one above the last.
    """
    before, after = (_counts(entries) for entries in lives(evidence))
    wrong = {place for place, counts in before.items() if sorted(counts) != list(range(1, len(counts) + 1))}
    for place, counts in after.items():
        first = min(counts)
        if sorted(counts) != list(range(first, first + len(counts))) or not 1 <= first <= 1 + max(before.get(place, [0])):
            wrong.add(place)
    wrong |= {place for life in (before, after) for place, counts in life.items() if max(counts) > DELIVERY_COUNT_LIMIT}
    return _places(wrong)


def _poison_archived(evidence: Evidence) -> str:
    found = {
        place: evidence.histories.get(place.partition, History()).outcomes.get(place.offset) for place in evidence.plan.poison
    }
    return ", ".join(
        f"{place.partition}/{place.offset}: {outcome}"
        for place, outcome in sorted(found.items())
        if outcome != (RecordState.ARCHIVED, DELIVERY_COUNT_LIMIT)
    )


def _everything_happened(evidence: Evidence) -> str:
    """Expect a job that is hard enough: a run in which no lock ran out proves nothing about locks."""
    killed = {place for entry in _of(evidence, Event.HOLDING) if _part(entry) is Part.IS_KILLED for place in entry.places}
    others = {place for entry in _of(evidence, Event.DELIVERED) if _part(entry) is not Part.IS_KILLED for place in entry.places}
    wanted = {
        "accept": _answers(evidence, Event.CONFIRMED, AcknowledgeType.ACCEPT),
        "release": _answers(evidence, Event.CONFIRMED, AcknowledgeType.RELEASE),
        "reject": _answers(evidence, Event.CONFIRMED, AcknowledgeType.REJECT),
        "lock that ran out": lost_locks(lives(evidence)[0]),
        "record of the killed member that another got": killed & others,
    }
    missing = [name for name, places in wanted.items() if not places]
    return f"there was no {', no '.join(missing)}" if missing else ""


def _state_agrees(evidence: Evidence) -> str:
    """Expect one row a partition, settled up to the end, and led by the last life of the gateway."""
    rows = {(row["group"], row["partition"]): row for row in evidence.states}
    wanted = {(GROUP, partition) for partition in range(PARTITIONS)}
    if rows.keys() != wanted or len(rows) != len(evidence.states):
        return f"share partitions: {sorted((row['group'], row['partition']) for row in evidence.states)}"
    generation = evidence.run.generations[-1]
    wrong = [
        f"partition {row['partition']}: start offset {row['start_offset']}, {row['delivery_complete_count']} settled after it, "
        f"leader epoch {row['leader_epoch']}"
        for row in rows.values()
        if not is_settled(row, evidence.plan.log_end) or row["leader_epoch"] != generation
    ]
    if evidence.run.generations[0] >= generation:
        wrong.append(f"the generations are {evidence.run.generations}")
    return "; ".join(wrong)


_CHECKS: dict[str, Callable[[Evidence], str]] = {
    "SIGKILL hit a member and, half-way, the gateway; the others finished": _killed_half_way,
    "every record was delivered, and no other": _none_vanished,
    "every record came with the value that was produced": _as_produced,
    "every record ended accepted, rejected or at the delivery limit": _all_ended,
    "nothing settled was written as anything else later": _none_reopened,
    "nothing was delivered once its end was confirmed": _none_after_its_end,
    "the gateway's log says of each record what its member says": _as_the_members_say,
    "delivery counts go up one by one, to the limit at most": _counts_go_up,
    "the poison records were archived at the delivery limit": _poison_archived,
    "accept, release, reject, a lost lock and a dead member happened": _everything_happened,
    "`share-state state` shows all share partitions at their ends": _state_agrees,
}


def redelivered_after_the_kill(evidence: Evidence) -> int:
    """Count records that were in a member's hands when the gateway was killed, and came again."""
    before, after = (_counts(entries) for entries in lives(evidence))
    return sum(place in before for place, counts in after.items() if min(counts) <= max(before.get(place, [0])))


def lives(evidence: Evidence) -> tuple[list[Entry], list[Entry]]:
    """Tell the entries of the first life of the gateway from those of the second."""
    entries, since = evidence.run.entries, evidence.run.restarted_at
    return [entry for entry in entries if entry.at < since], [entry for entry in entries if entry.at >= since]


def _counts(entries: Iterable[Entry]) -> dict[Place, list[int]]:
    counts: defaultdict[Place, list[int]] = defaultdict(list)
    for entry in entries:
        if entry.event is Event.DELIVERED:
            for place in entry.places:
                counts[place].append(entry.delivery_count)
    return counts


def _of(evidence: Evidence, event: Event) -> list[Entry]:
    return [entry for entry in evidence.run.entries if entry.event is event]


def _part(entry: Entry) -> Part:
    return members()[entry.member]


def _answers(evidence: Evidence, event: Event, kind: AcknowledgeType) -> set[Place]:
    return {place for entry in _of(evidence, event) if entry.acknowledge_type is kind for place in entry.places}


def _with(evidence: Evidence, *states: RecordState) -> set[Place]:
    """Collect what the log says is in one of the states."""
    return {
        Place(partition, offset)
        for partition, history in evidence.histories.items()
        for offset, outcome in history.outcomes.items()
        if outcome.state in states
    }


def _places(places: Iterable[Place]) -> str:
    found = sorted(set(places))
    shown = ", ".join(f"{partition}/{offset}" for partition, offset in found[:10])
    return f"{len(found)} records: {shown}{', ...' if len(found) > 10 else ''}" if found else ""


def outcomes(evidence: Evidence) -> Counter[RecordState]:
    """Count the records by the last state that the log gives them."""
    return Counter(outcome.state for history in evidence.histories.values() for outcome in history.outcomes.values())
