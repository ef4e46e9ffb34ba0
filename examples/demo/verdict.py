"""Did it go as it must? The log's records and the workers' journals are held against each other.

Nothing here asks the engine. Every check names what speaks against it, so that it can fail.
"""

import signal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from examples.demo.history import SETTLED, History
from examples.demo.journal import Entry, Event, settled_offsets
from examples.demo.plan import DELIVERY_COUNT_LIMIT, Plan
from share_state import AcknowledgeType, RecordState

#: As `share_state.operate.analysis.fold_path` gives them.
States: TypeAlias = Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """All there is to judge by."""

    plan: Plan
    #: The states of all share partitions: as the broker left them, after the take-over, at the end.
    recorded: States
    taken_over: States
    final: States
    history: History
    #: Entries of the workers before the kill and after it.
    before: Sequence[Entry]
    after: Sequence[Entry]
    #: Ends of the first and the second serving process.
    exit_codes: tuple[int, int]

    @property
    def journal(self) -> list[Entry]:
        """Both journals, in order."""
        return [*self.before, *self.after]


@dataclass(frozen=True, slots=True)
class Check:
    """Property and what speaks against it."""

    name: str
    against: str

    @property
    def passed(self) -> bool:
        """True if nothing speaks against it."""
        return not self.against


def judge(evidence: Evidence) -> list[Check]:
    """Check every property, also after one has failed."""
    return [Check(name, against(evidence)) for name, against in _CHECKS.items()]


def _taken_over(evidence: Evidence) -> str:
    recorded, taken_over = (_comparable(states) for states in (evidence.recorded, evidence.taken_over))
    return _keys(key for key in recorded.keys() | taken_over.keys() if recorded.get(key) != taken_over.get(key))


def _killed_half_way(evidence: Evidence) -> str:
    if evidence.exit_codes != (-signal.SIGKILL, 0):
        return f"the serving processes ended with {evidence.exit_codes}"
    settled = len(settled_offsets(evidence.before))
    if 0 < settled < evidence.plan.unsettled:
        return ""
    return f"{settled} of {evidence.plan.unsettled} records were settled before the kill"


def _all_settled(evidence: Evidence) -> str:
    outcomes = evidence.history.outcomes
    in_history = {offset for offset, outcome in outcomes.items() if outcome.state in SETTLED}
    (state,) = (state for state in evidence.final if _key(state) == evidence.plan.key)
    in_state = {
        offset
        for first, last, delivery_state, _ in state["batches"]
        if delivery_state in SETTLED
        for offset in range(first, last + 1)
    }
    in_state |= set(range(evidence.plan.start_offset, state["start_offset"]))
    return _offsets(set(evidence.plan.offsets) - (in_history & in_state))


def _none_reopened(evidence: Evidence) -> str:
    return _offsets(evidence.history.reopened)


def _none_redelivered_after_the_kill(evidence: Evidence) -> str:
    delivered = {offset for entry in evidence.after if entry.event is Event.DELIVERED for offset in entry.offsets}
    return _offsets(delivered & settled_offsets(evidence.before))


def _none_delivered_once_settled(evidence: Evidence) -> str:
    settled: set[int] = set()
    wrong: set[int] = set()
    for entry in evidence.journal:
        if entry.event is Event.DELIVERED:
            wrong |= settled.intersection(entry.offsets)
        settled |= settled_offsets([entry])
    return _offsets(wrong)


def _as_the_workers_say(evidence: Evidence) -> str:
    """Expect what was confirmed in the log, and nothing in the log that nobody asked for."""
    accepted = _acknowledged(evidence, Event.SENT, AcknowledgeType.ACCEPT)
    rejected = _acknowledged(evidence, Event.SENT, AcknowledgeType.REJECT)
    last_delivery = {
        offset for entry in evidence.journal if entry.delivery_count == DELIVERY_COUNT_LIMIT for offset in entry.offsets
    }
    before_us = _settled_by_others(evidence)
    outcomes = evidence.history.outcomes
    acknowledged = {offset for offset, outcome in outcomes.items() if outcome.state is RecordState.ACKNOWLEDGED}
    archived = {offset for offset, outcome in outcomes.items() if outcome.state is RecordState.ARCHIVED}
    return _offsets(
        (_acknowledged(evidence, Event.CONFIRMED, AcknowledgeType.ACCEPT) - acknowledged)
        | (_acknowledged(evidence, Event.CONFIRMED, AcknowledgeType.REJECT) - archived)
        | (acknowledged - accepted - before_us)
        | (archived - rejected - last_delivery - before_us)
    )


def _poison_archived(evidence: Evidence) -> str:
    poison = evidence.plan.poison
    outcome = evidence.history.outcomes.get(poison)
    return "" if outcome == (RecordState.ARCHIVED, DELIVERY_COUNT_LIMIT) else f"offset {poison}: {outcome}"


def _everything_happened(evidence: Evidence) -> str:
    """Expect a job that is hard enough: a run in which no lock ran out proves nothing about locks."""
    wanted = {
        "accept": _acknowledged(evidence, Event.CONFIRMED, AcknowledgeType.ACCEPT),
        "release": _acknowledged(evidence, Event.CONFIRMED, AcknowledgeType.RELEASE),
        "reject": _acknowledged(evidence, Event.CONFIRMED, AcknowledgeType.REJECT),
        "renew": {offset for entry in evidence.journal if entry.event is Event.RENEWED for offset in entry.offsets},
        "lock time-out": set(lost_locks(evidence.before)) | set(lost_locks(evidence.after)),
    }
    missing = [name for name, offsets in wanted.items() if not offsets]
    return f"there was no {', no '.join(missing)}" if missing else ""


def _others_untouched(evidence: Evidence) -> str:
    taken_over, final = (_comparable(states) for states in (evidence.taken_over, evidence.final))
    changed = (key for key in taken_over.keys() | final.keys() if taken_over.get(key) != final.get(key))
    return _keys(key for key in changed if key != evidence.plan.key)


_CHECKS: dict[str, Callable[[Evidence], str]] = {
    "the broker's states were taken over as they were": _taken_over,
    "SIGKILL hit the serving process half-way, the next one finished": _killed_half_way,
    "every offset ended acknowledged or archived": _all_settled,
    "nothing settled was written as anything else later": _none_reopened,
    "nothing confirmed before the kill was delivered after it": _none_redelivered_after_the_kill,
    "nothing was delivered once its end was confirmed": _none_delivered_once_settled,
    "the log says of each record what its worker says": _as_the_workers_say,
    "the poison record was archived at the delivery limit": _poison_archived,
    "accept, release, reject, renew and lock time-outs happened": _everything_happened,
    "the other share partitions are untouched": _others_untouched,
}


def lost_locks(entries: Sequence[Entry]) -> list[int]:
    """Find records that were delivered again though their worker had not given them back, once for each time.

    Within one serving process only: a kill ends every lock.
    """
    held: set[int] = set()
    lost: list[int] = []
    for entry in entries:
        if entry.event is Event.DELIVERED:
            lost += [offset for offset in entry.offsets if offset in held]
            held.update(entry.offsets)
        # From here on the log may say that they were given back, before the worker hears of it.
        elif entry.event is Event.SENT:
            held.difference_update(entry.offsets)
    return lost


def _acknowledged(evidence: Evidence, event: Event, kind: AcknowledgeType) -> set[int]:
    entries = (entry for entry in evidence.journal if entry.event is event and entry.acknowledge_type is kind)
    return {offset for entry in entries for offset in entry.offsets}


def _settled_by_others(evidence: Evidence) -> set[int]:
    """Collect what was settled when the state was recorded."""
    (state,) = (state for state in evidence.recorded if _key(state) == evidence.plan.key)
    return {
        offset
        for first, last, delivery_state, _ in state["batches"]
        if delivery_state in SETTLED
        for offset in range(first, last + 1)
    }


def _key(state: dict[str, Any]) -> tuple[str, str, int]:
    return state["group"], state["topic_id"], state["partition"]


def _comparable(states: States) -> dict[tuple[str, str, int], dict[str, Any]]:
    """States by key, without what is the log's own affair: how many snapshots it wrote, and when."""
    own = {"snapshot_epoch", "create_timestamp", "write_timestamp"}
    return {_key(state): {name: value for name, value in state.items() if name not in own} for state in states}


def _offsets(offsets: Iterable[int]) -> str:
    found = sorted(offsets)
    shown = ", ".join(map(str, found[:10]))
    return f"{len(found)} offsets: {shown}{', ...' if len(found) > 10 else ''}" if found else ""


def _keys(keys: Iterable[tuple[str, str, int]]) -> str:
    return ", ".join("/".join(map(str, key)) for key in sorted(keys))
