"""A worker: takes records, processes them, and says what became of each."""

import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from examples.demo.journal import Entry, Event, Journal
from examples.demo.leader import Leader
from examples.demo.plan import LOCK_DURATION_MS, Fate, Plan
from share_state import AcknowledgeType, AcquiredRange
from share_state.errors import InvalidRecordStateError

MAX_RECORDS = 8
_RECORD_SECONDS = 0.02
_LOCK_SECONDS = LOCK_DURATION_MS / 1_000
_ANSWERS = {
    Fate.FINE: AcknowledgeType.ACCEPT,
    Fate.SLOW: AcknowledgeType.ACCEPT,
    Fate.FAILS: AcknowledgeType.RELEASE,
    Fate.MALFORMED: AcknowledgeType.REJECT,
}

#: Records that were acquired together, and what is to be said about each of them.
_Processed: TypeAlias = tuple[AcquiredRange, Sequence[AcknowledgeType]]


class Worker:
    """Member of the share group."""

    def __init__(self, name: str, plan: Plan, leader: Leader, journal: Journal, *, stalls: bool) -> None:
        self._name = name
        self._plan = plan
        self._leader = leader
        self._journal = journal
        self._stalls = stalls

    def run(self) -> None:
        """Work until nothing is left."""
        while held := self._leader.acquire(self._name, MAX_RECORDS):
            self._note(Event.DELIVERED, held)
            if self._stalls:
                self._stall(held)
            self._acknowledge([(run, self._process(run, held)) for run in held])

    def _stall(self, held: Sequence[AcquiredRange]) -> None:
        """Do nothing, once, until after the lock has run out."""
        self._stalls = False
        self._note(Event.STALLED, held)
        time.sleep(1.2 * _LOCK_SECONDS)

    def _process(self, run: AcquiredRange, held: Sequence[AcquiredRange]) -> list[AcknowledgeType]:
        """Process the records of a run, while the worker holds all of `held`."""
        answers = []
        for offset in range(run.first_offset, run.last_offset + 1):
            fate = self._plan.fate(offset, run.delivery_count)
            if fate is Fate.SLOW:
                self._process_slowly(held)
            else:
                time.sleep(_RECORD_SECONDS)
            answers.append(_ANSWERS[fate])
        return answers

    def _process_slowly(self, held: Sequence[AcquiredRange]) -> None:
        """Take one and a half times as long as a lock lasts."""
        for _ in range(3):
            time.sleep(_LOCK_SECONDS / 2)
            try:
                self._leader.renew(self._name, held)
            except InvalidRecordStateError:
                # The lock is gone: the acknowledgement will be refused, and somebody else has the records.
                return
            self._note(Event.RENEWED, held)

    def _acknowledge(self, processed: Sequence[_Processed]) -> None:
        """Say what became of the records; go on when that is durable."""
        self._note_answers(Event.SENT, processed)
        try:
            confirmed = self._leader.acknowledge(
                self._name, [(run.first_offset, run.last_offset, answers) for run, answers in processed]
            )
        except InvalidRecordStateError:
            confirmed = False
        self._note_answers(Event.CONFIRMED if confirmed else Event.REFUSED, processed)

    def _note(self, event: Event, held: Sequence[AcquiredRange]) -> None:
        self._journal.write(Entry(self._name, event, *run) for run in held)

    def _note_answers(self, event: Event, processed: Sequence[_Processed]) -> None:
        self._journal.write(
            Entry(self._name, event, first, last, run.delivery_count, answer)
            for run, answers in processed
            for first, last, answer in _alike(run.first_offset, answers)
        )


def _alike(first: int, answers: Sequence[AcknowledgeType]) -> Iterator[tuple[int, int, AcknowledgeType]]:
    """Stretches of records with the same answer."""
    for answer, group in groupby(answers):
        last = first + len(list(group)) - 1
        yield first, last, answer
        first = last + 1
