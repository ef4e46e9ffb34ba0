"""Sends dead-lettered records again: reads each from its source, notes it in the journal, sends it, notes how that ended.

Each record is sent at most once by one journal, however often the redrive is interrupted and started again, and each that can be
read is sent. A record whose payload is gone is reported and never sent without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import groupby, islice
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from share_state.operate.dead_letters.dead_letter import Place
from share_state.operate.dead_letters.errors import SendError
from share_state.operate.dead_letters.intervals import Interval, without
from share_state.operate.dead_letters.redriven_from import header
from share_state.operate.dead_letters.sending import Answers, Outgoing, payload_size
from share_state.operate.payloads import Missing, Payload, Reason

if TYPE_CHECKING:
    from share_state.operate.dead_letters.in_doubt import Tail
    from share_state.operate.dead_letters.journal import Journal
    from share_state.operate.dead_letters.journal_state import JournalState
    from share_state.operate.dead_letters.sending import Sender

__all__ = ["NO_TOPIC", "Execution", "Outcome", "Payloads", "Redrive", "RedriveRow"]

#: The reason of a record whose topic or partition is gone.
NO_TOPIC: Final = "no_topic"
#: Offsets asked for at once.
_READ_AT_ONCE: Final = 5_000
#: A batch ends with so many records, or so many bytes: what one line of the journal tells, and what is in memory.
_BATCH_RECORDS: Final = 500
_BATCH_BYTES: Final = 8 << 20


class Outcome(StrEnum):
    """Outcome of a record."""

    #: It can be read; a dry run sends nothing.
    WOULD_SEND = "would_send"
    SENT = "sent"
    #: Its payload is gone, and so it is not sent.
    MISSING = "missing"
    #: The target does not take it.
    REFUSED = "refused"
    #: It may have been sent; the next run with the same journal finds out.
    IN_DOUBT = "in_doubt"


class RedriveRow(NamedTuple):
    """Outcome of a record, or of consecutive ones that are missing for the same reason."""

    topic: str
    partition: int
    first_offset: int
    last_offset: int
    outcome: Outcome
    #: Reason for which a record is missing, refused or in doubt.
    reason: str | None = None
    to_topic: str | None = None
    #: Place of a record that was sent.
    to_partition: int | None = None
    to_offset: int | None = None


class Payloads(Protocol):
    """Reader of the sources: :class:`share_state.operate.payloads.PayloadReader`."""

    def read(self, topic: str, partition: int, offsets: Sequence[int]) -> Iterator[Payload | Missing]:
        """Return an answer an offset, in order."""


class Execution(NamedTuple):
    """Parts that a redrive needs to send."""

    journal: Journal
    sender: Sender


class Redrive:
    """Redrive of the dead letters of a group.

    Args:
        payloads: reads the sources.
        log: where partitions begin and end.
        target: the topic to send to; None: each record to the topic and partition that it came from.
        state: what the journal says; None: there is none yet.
        execution: how to send; None: a dry run.
        limit: send at most so many; None: all.

    Attributes:
        sent_before: how many of the records that were asked for an earlier run has sent.
    """

    def __init__(
        self,
        payloads: Payloads,
        log: Tail,
        *,
        target: str | None,
        state: JournalState | None,
        execution: Execution | None = None,
        limit: int | None = None,
    ) -> None:
        self._payloads = payloads
        self._log = log
        self._target = target
        self._state = state
        self._execution = execution
        self._left = limit
        #: Targets whose ends are in the journal as of this run.
        self._noted: set[str] = set()
        self.sent_before = 0
        rate = None if execution is None else execution.sender.pace.rate
        # What waits for its turn is not in doubt for long.
        self._batch_records = _BATCH_RECORDS if rate is None else max(1, min(_BATCH_RECORDS, int(rate)))

    def rows(self, intervals: Iterable[Interval]) -> Iterator[RedriveRow]:
        """Redrive the records of intervals, which are in order, and tell of each.

        Raises:
            SendError: the sending ended early.
            ClusterReadError: a source cannot be read.
            OSError: the journal cannot be written; nothing more is sent.
        """
        for (topic, partition), some in groupby(intervals, key=lambda one: (one.topic, one.partition)):
            if self._left == 0:
                return
            yield from self._partition(topic, partition, list(some))

    def _partition(self, topic: str, partition: int, asked: list[Interval]) -> Iterator[RedriveRow]:
        done = self._done(topic, partition)
        open_ones = [left for one in asked for left in without(one, done)]
        sent = set() if self._state is None else self._state.sent_offsets(topic, partition)
        self.sent_before += sum(_count(one, sent) for one in asked)
        if partition not in (self._log.partitions(topic) or ()):
            yield from (_missing(one, NO_TOPIC) for one in open_ones)
            return
        bounds = self._log.bounds(topic, partition)
        there = []
        for one in open_ones:
            if one.first < bounds.start:
                yield _missing(one._replace(last=min(one.last, bounds.start - 1)), Reason.BELOW_LOG_START)
            if one.last >= bounds.end:
                yield _missing(one._replace(first=max(one.first, bounds.end)), Reason.AT_OR_AFTER_LOG_END)
            inside = one._replace(first=max(one.first, bounds.start), last=min(one.last, bounds.end - 1))
            if inside.first <= inside.last:
                there.append(inside)
        offsets = (offset for one in there for offset in range(one.first, one.last + 1))
        while self._left != 0:
            some = list(islice(offsets, _READ_AT_ONCE if self._left is None else min(self._left, _READ_AT_ONCE)))
            if not some:
                return
            yield from self._read(topic, partition, some)

    def _done(self, topic: str, partition: int) -> list[int]:
        """Return the offsets that are not to be sent, in order: sent, or in doubt, as a dry run may find them."""
        if self._state is None:
            return []
        in_doubt = {place.offset for place in self._state.in_doubt if (place.topic, place.partition) == (topic, partition)}
        return sorted(self._state.sent_offsets(topic, partition) | in_doubt)

    def _read(self, topic: str, partition: int, offsets: list[int]) -> Iterator[RedriveRow]:
        batch: list[Payload] = []
        size = 0
        for answer in self._payloads.read(topic, partition, offsets):
            if isinstance(answer, Missing):
                yield _missing(Interval(topic, partition, answer.offset, answer.offset), answer.reason)
                continue
            batch.append(answer)
            size += payload_size(answer)
            if len(batch) >= self._batch_records or size >= _BATCH_BYTES:
                yield from self._batch(batch)
                batch, size = [], 0
        yield from self._batch(batch)

    def _batch(self, batch: list[Payload]) -> Iterator[RedriveRow]:
        if self._left is not None:
            self._left -= len(batch)
        if self._execution is None:
            yield from (_row(_place(one), Outcome.WOULD_SEND, to_topic=self._target or one.topic) for one in batch)
        elif batch:
            yield from self._send(batch, self._execution)

    def _send(self, batch: list[Payload], execution: Execution) -> Iterator[RedriveRow]:
        journal, answers = execution.journal, Answers()
        outgoing = [self._outgoing(payload, journal.state) for payload in batch]
        for topic in {one.topic for one in outgoing} - self._noted:
            journal.ends(topic, {one: self._log.bounds(topic, one).end for one in self._log.partitions(topic) or ()})
            self._noted.add(topic)
        journal.sending(one.place for one in outgoing)
        ended: SendError | None = None
        try:
            execution.sender.send(outgoing, answers)
        except SendError as error:
            ended = error
        finally:
            # Whatever ended the sending: what is known is kept, and the rest stays in doubt. Doubts are read first, because what
            # is under way may be confirmed meanwhile.
            in_doubt = set(answers.in_doubt)
            journal.sent([one for one in list(answers.sent.values()) if one.place not in in_doubt], in_doubt)
        yield from filter(None, (_told(one, answers) for one in outgoing))
        if ended is not None:
            raise ended
        if answers.in_doubt:
            count, reason = len(answers.in_doubt), next(iter(answers.in_doubt.values()))
            raise SendError(
                f"{count} records were not confirmed ({reason}); run the same command again to find out, and to go on"
            )

    def _outgoing(self, payload: Payload, state: JournalState) -> Outgoing:
        place = _place(payload)
        mark = header(place, state.identity.group, state.journal_id)
        # Back where it came from, whatever put it there; elsewhere by its key.
        partition = payload.partition if self._target in {None, payload.topic} else None
        return Outgoing(place, payload, self._target or payload.topic, partition, (*payload.headers, mark))


def _count(one: Interval, offsets: set[int]) -> int:
    """Count the offsets of an interval that are in a set: the shorter of the two is walked."""
    if one.last - one.first < len(offsets):
        return sum(offset in offsets for offset in range(one.first, one.last + 1))
    return sum(one.first <= offset <= one.last for offset in offsets)


def _told(one: Outgoing, answers: Answers) -> RedriveRow | None:
    """Return the row of a record; None for one that was not tried."""
    sent = answers.sent.get(one.place)
    if sent is not None:
        return _row(one.place, Outcome.SENT, to_topic=sent.topic, to_partition=sent.partition, to_offset=sent.offset)
    if one.place in answers.refused:
        return _row(one.place, Outcome.REFUSED, reason=answers.refused[one.place], to_topic=one.topic)
    if one.place in answers.in_doubt:
        return _row(one.place, Outcome.IN_DOUBT, reason=answers.in_doubt[one.place], to_topic=one.topic)
    return None


def _row(
    place: Place,
    outcome: Outcome,
    *,
    reason: str | None = None,
    to_topic: str,
    to_partition: int | None = None,
    to_offset: int | None = None,
) -> RedriveRow:
    topic, partition, offset = place
    return RedriveRow(topic, partition, offset, offset, outcome, reason, to_topic, to_partition, to_offset)


def _missing(one: Interval, reason: str) -> RedriveRow:
    return RedriveRow(*one, Outcome.MISSING, str(reason))


def _place(payload: Payload) -> Place:
    return Place(payload.topic, payload.partition, payload.offset)
