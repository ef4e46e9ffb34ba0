"""Share partition under test: share_state's object beside what was recorded of Kafka's.

Holds the adapter's decisions about configuration, writes and dead letters, so that the operations in
``operations.py`` read like the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from share_state import GroupConfig, PendingWrite, RecordState, SharePartition, WriteState
from share_state.arguments import InFlightStore
from share_state.errors import PersisterError
from share_state.persister import RecordingPersister

from .deliberate import RENEW
from .durable import Batch, DurableFold
from .effective import EffectiveRun, PartitionState, coalesce
from .fencing import FENCING, member_code
from .invariants import Breaks, Invariants
from .kafka_names import expected_code
from .recorded_writes import RecordedDeadLetter, RecordedWrite, join_dead_letters
from .recordings import FormatError, Json

#: A refusal that leaves a share partition in service.
_ANOTHER_REFUSAL = -1

TOPIC_ID = "00010203-0405-0607-0809-0a0b0c0d0e0f"


@dataclass(slots=True)
class Parked:
    """Our write whose recorded counterpart is answered by a later ``persister_completes``."""

    partition: PartitionUnderTest
    tokens: list[int]
    #: Recorded answers still to come.
    open_ids: set[int]
    #: Answer that the waiting member is recorded to see; ``None`` when no member waits (a lock timeout).
    expected: object = None
    member_waits: bool = False
    done: bool = False
    #: Dead letters of the answers so far.
    letters: list[RecordedDeadLetter] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Answered:
    """Our writes that a persister answered within the call, and the code that the member was given."""

    states: list[WriteState]
    member_code: int


@dataclass(slots=True)
class PartitionUnderTest:
    """A ``SharePartition`` with its configuration, folds and invariants."""

    partition: SharePartition
    settings: dict[str, Any]
    leader_epoch: int
    dead_letters_supplied: bool
    #: When a later leader took over: this one's timers stand still from then on, late answers still reach it.
    stopped_at: int | None = None
    #: Locks that end earlier than the recorder's: first offset, last offset, the recorder's deadline.
    early_locks: list[tuple[int, int, int]] = field(default_factory=list)
    recorded: PartitionState | None = None
    #: The recorded batches as Kafka tracks them, which decides what its timers cover.
    recorded_batches: list[Any] = field(default_factory=list)
    recorded_fold: DurableFold = field(default_factory=lambda: DurableFold(-1, ()))
    our_fold: DurableFold = field(default_factory=lambda: DurableFold(-1, ()))
    #: Dead letters of which the queue has said nothing yet, by the id of its answer.
    held_letters: dict[int, list[int]] = field(default_factory=dict)
    invariants: Invariants = field(default_factory=Invariants)
    #: Findings of the adapter itself since the last question.
    noticed: Breaks = field(default_factory=list)

    @classmethod
    def create(cls, config: Json, store: InFlightStore) -> PartitionUnderTest:
        """From a ``create`` operation's ``config``."""
        needed = {"leader_epoch", "max_in_flight", "max_delivery_count", "record_lock_ms", "initial_status"}
        # A release without dead-letter queues does not tell.
        if set(config) - {"dlq_enabled"} != needed:
            raise FormatError(f"create config has fields {sorted(config)}")
        settings: dict[str, Any] = {
            "partition_max_record_locks": config["max_in_flight"],
            "delivery_count_limit": config["max_delivery_count"],
            "record_lock_duration_ms": our_lock_duration(config["record_lock_ms"]),
        }
        partition = SharePartition(
            "group",
            TOPIC_ID,
            0,
            leader_epoch=config["leader_epoch"],
            config=GroupConfig(**settings),
            store=store,
        )
        return cls(partition, settings, config["leader_epoch"], config.get("dlq_enabled", False))

    def configure(self, group_config: Json, renews: bool | None) -> None:
        """Take over the group configuration Kafka read during an operation.

        Only what Kafka asked for is recorded, so a setting stays as it was last seen. Whether renewals are allowed
        is told apart from that (``renews``), for operations that renew.
        """
        wanted = dict(self.settings)
        if "partitionMaxRecordLocksOrDefault" in group_config:
            wanted["partition_max_record_locks"] = group_config["partitionMaxRecordLocksOrDefault"]
        if "deliveryCountLimitOrDefault" in group_config:
            wanted["delivery_count_limit"] = group_config["deliveryCountLimitOrDefault"]
        if "recordLockDurationMsOrDefault" in group_config:
            duration = group_config["recordLockDurationMsOrDefault"]
            wanted["record_lock_duration_ms"] = our_lock_duration(duration)
        if "errorsDLQTopicName" in group_config and self.dead_letters_supplied:
            wanted["dead_letter_queue_topic"] = _optional(group_config["errorsDLQTopicName"])
        if "autoOffsetReset" in group_config:
            wanted["auto_offset_reset"] = _strategy(group_config["autoOffsetReset"])
        if renews is not None:
            wanted["renew_acknowledge_enable"] = renews
        if wanted != self.settings:
            self.partition.configure(GroupConfig(**wanted))
            self.settings = wanted

    def restore(self, settings: dict[str, Any]) -> None:
        """Put back settings the adapter changed for a step of its own."""
        if settings != self.settings:
            self.partition.configure(GroupConfig(**settings))
            self.settings = settings

    def renew(self, member: str, ranges: Sequence[tuple[int, int]], duration_ms: int, now_ms: int) -> None:
        """Lock what ``member`` holds for ``duration_ms`` from now on, a step of the adapter's own.

        A renewal changes nothing but the deadline and writes nothing, so it is how the adapter sets one.
        """
        settings = dict(self.settings)
        self.restore({**settings, "record_lock_duration_ms": max(duration_ms, 1), "renew_acknowledge_enable": True})
        self.partition.acknowledge_batches(member, [(first, last, [RENEW]) for first, last in ranges], now_ms=now_ms)
        self.restore(settings)

    def poll_writes(self) -> list[PendingWrite]:
        """Everything share_state wants written now, folded into our durable state."""
        polled: list[PendingWrite] = []
        while (write := self.partition.poll_write()) is not None:
            polled.append(write)
            self._fold(write.state)
        return polled

    def answered_within(self, call: Callable[[], object], error_code: int) -> Answered:
        """Make a member's call with a persister that answers this within it."""
        persister = RecordingPersister(error_code=_ANOTHER_REFUSAL if error_code in FENCING else error_code)
        self.partition.persister = persister
        code = 0
        try:
            call()
        except PersisterError as error:
            given = member_code(error_code) if error_code in FENCING else error.kafka_code
            code = -2 if given is None else given
        finally:
            self.partition.persister = None
        states = [state for _, state in persister.take()]
        for state in states:
            self._fold(state)
        return Answered(states, code)

    def _fold(self, state: WriteState) -> None:
        batches = [(b[0], b[1], int(b[2]), b[3]) for b in state.state_batches]
        for batch in batches:
            if batch[2] == RecordState.ACQUIRED:
                self.notice("invariant: ACQUIRED is never written", "0, 2, 3 or 4", batch)
        self.our_fold.write(state.start_offset, batches)

    def record_writes(self, writes: Sequence[RecordedWrite]) -> None:
        """Fold what Kafka sent, whatever its answer was: the payload is what is compared."""
        for write in writes:
            self.recorded_fold.write(write.start_offset, write.batches)

    def complete(self, token: int, error_code: int, now_ms: int) -> int:
        """Answer one of our writes; the code the waiting member gets."""
        now_ms = now_ms if self.stopped_at is None else self.stopped_at
        if error_code not in FENCING:
            return self.partition.handle_write_result(token, error_code, now_ms=now_ms)
        # Kafka's class goes on where its manager would fence it (S9), and so shall ours here: it hears of another refusal.
        self.partition.handle_write_result(token, _ANOTHER_REFUSAL, now_ms=now_ms)
        return member_code(error_code)

    def compare_durable(self) -> None:
        """Compare what the payloads so far fold to, from the higher of the two start offsets on."""
        start = max(self.recorded_fold.start_offset, self.our_fold.start_offset)
        expected = self.recorded_fold.from_offset(start)
        actual = self.our_fold.from_offset(start)
        if expected != actual:
            self.notice(f"durable state from {start}", *_beside(expected, actual))

    def compare_payload(self, recorded: RecordedWrite, ours: WriteState) -> None:
        """Compare the scalars of one payload; its batches are compared folded."""
        epochs = (ours.leader_epoch, ours.state_epoch)
        expected = (recorded.leader_epoch, self.partition.state_epoch)
        if epochs != expected:
            self.notice("epochs of the write", expected, epochs)
        self.compare_counts(recorded, ours)

    def compare_counts(self, recorded: RecordedWrite, ours: WriteState) -> None:
        """Compare the delivery complete counts where both count from the same start offset."""
        actual = ours.delivery_complete_count
        if actual < 0:
            self.notice("invariant: delivery complete count is not negative", ">= 0", actual)
        same_base = ours.start_offset == recorded.start_offset
        if same_base and actual != recorded.delivery_complete_count:
            self.notice("delivery complete count of the write", recorded.delivery_complete_count, actual)

    def check_dead_letters(self, recorded: Sequence[RecordedDeadLetter], now_ms: int, answers: Sequence[int]) -> None:
        """Hand over everything due to the dead-letter queue, archive it, compare what was handed.

        Kafka archives after the queue's success *and* failure, so the recorded result does not matter
        here. ``answers`` are the codes of the archiving writes in order; a failing one is only logged.
        """
        handed = self._hand_over_dead_letters(recorded, now_ms, answers)
        if join_dead_letters(recorded) != handed:
            self.notice("dead letters", list(recorded), handed)
        self.compare_durable()

    def _hand_over_dead_letters(
        self, recorded: Sequence[RecordedDeadLetter], now_ms: int, answers: Sequence[int]
    ) -> list[RecordedDeadLetter]:
        remaining = list(answers)
        handed: list[RecordedDeadLetter] = []
        while (letter := self.partition.poll_dead_letter()) is not None:
            # What we hand over as one is answered as one with Kafka.
            of = next((each for each in recorded if each.first_offset <= letter.first_offset <= each.last_offset), None)
            async_id, answered = (None, True) if of is None else (of.async_id, of.answered)
            first, last = letter.first_offset, letter.last_offset
            handed.append(RecordedDeadLetter(first, last, letter.delivery_count, letter.cause, async_id, answered))
            if async_id is not None:
                self.held_letters.setdefault(async_id, []).append(letter.token)
            elif answered:
                remaining = self._archive([letter.token], now_ms, remaining)
        return join_dead_letters(handed)

    def dead_letters_complete(self, async_id: int, now_ms: int, answers: Sequence[int]) -> None:
        """The dead-letter queue says what became of what it was given under this id."""
        self._archive(self.held_letters.pop(async_id, []), now_ms, list(answers))
        self.compare_durable()

    def _archive(self, tokens: Sequence[int], now_ms: int, answers: list[int]) -> list[int]:
        """Archive what these tokens stand for; the answers that were not needed."""
        now_ms = now_ms if self.stopped_at is None else self.stopped_at
        for token in tokens:
            self.partition.handle_dead_letter_done(token, now_ms=now_ms)
            for write in self.poll_writes():
                self.complete(write.token, answers.pop(0) if answers else 0, now_ms)
        return answers

    def notice(self, what: str, expected: object, actual: object) -> None:
        """Remember a difference until the operation is judged."""
        self.noticed.append((what, expected, actual))

    def check_member_code(self, expected: object, code: int) -> None:
        """Compare what a waiting member sees."""
        wanted = expected_code(expected)
        if wanted is not None and wanted != code:
            self.notice("answer to the member", f"{expected} (code {wanted})", f"code {code}")

    def state(self) -> PartitionState:
        """Our state in the comparable form."""
        partition = self.partition
        runs = coalesce(
            EffectiveRun(
                run.first_offset,
                run.last_offset,
                RecordState(run.state).name,
                run.delivery_count,
                (run.member or "") if run.state == RecordState.ACQUIRED else "",
                run.pending,
            )
            for run in partition.in_flight()
        )
        return PartitionState(
            status=partition.status,
            start_offset=partition.start_offset,
            end_offset=partition.end_offset,
            state_epoch=partition.state_epoch,
            delivery_complete_count=partition.delivery_complete_count,
            runs=runs,
        )


def our_lock_duration(recorded_ms: int) -> int:
    """Kafka's timers fire strictly after their deadline, our lock has run out when now >= deadline.

    One millisecond more makes both expire at the same readings of the recorded clock.
    """
    return recorded_ms + 1


def _strategy(text: str) -> str:
    """The start-offset strategy; one that is neither end of the log is recorded as a test double."""
    return text if text in ("latest", "earliest") else "by_duration:PT1H"


def _beside(expected: list[Batch], actual: list[Batch]) -> tuple[list[Batch], list[Batch]]:
    """Batches that only one side has, for reading."""
    return (
        [batch for batch in expected if batch not in actual],
        [batch for batch in actual if batch not in expected],
    )


def _optional(text: str) -> str:
    """The text inside Java's ``Optional[...]``; empty for ``Optional.empty``."""
    if text == "Optional.empty":
        return ""
    if text.startswith("Optional[") and text.endswith("]"):
        return text.removeprefix("Optional[").removesuffix("]")
    raise FormatError(f"unknown form of an optional: {text}")
