"""Pairing our writes with the payloads Kafka sent, and answering ours as Kafka's were answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .effective import PartitionState
from .partition import Answered, Parked, PartitionUnderTest
from .recorded_writes import RecordedWrite, dead_letters_of, writes_of
from .recordings import Json


def settle_member_write(
    under_test: PartitionUnderTest, op: Json, expected: object, now_ms: int, answered: Answered | None = None
) -> dict[int, Parked] | None:
    """An acknowledgement or a release: one payload for which a member waits, then dead letters.

    ``answered`` is what a persister was given within the call; without it the writes wait to be polled. Returns what a later
    ``persister_completes`` will answer, or ``None`` when nothing is left open.
    """
    recorded = writes_of(op)
    polled = under_test.poll_writes()
    states = [write.state for write in polled]
    if answered is not None:
        if polled:
            under_test.notice("writes behind the persister", "none", polled)
        states = answered.states
    under_test.record_writes(recorded)
    if not states:
        if recorded:
            under_test.notice("write", recorded[0], "nothing to write")
        under_test.check_member_code(expected, 0)
        return None
    if not recorded:
        under_test.notice("write", "nothing to write", states)
        for write in polled:
            under_test.complete(write.token, 0, now_ms)
        under_test.check_member_code(expected, 0)
        return None
    first, rest = recorded[0], recorded[1:]
    under_test.compare_payload(first, states[-1])
    tokens = [write.token for write in polled]
    if first.async_id is not None:
        under_test.compare_durable()
        parked = Parked(under_test, tokens, {first.async_id}, expected=expected, member_waits=True)
        return {first.async_id: parked}
    if first.error_code is None:
        return None
    code = 0 if answered is None else answered.member_code
    for each in tokens:
        code = under_test.complete(each, first.error_code, now_ms) or code
    under_test.check_member_code(expected, code)
    under_test.check_dead_letters(dead_letters_of(op), now_ms, [w.error_code or 0 for w in rest])
    return None


def settle_timeouts(under_test: PartitionUnderTest, timeouts: Sequence[Json], now_ms: int) -> dict[int, Parked]:
    """Lock timeouts: Kafka sends a payload a timer where ours is one.

    The answer to such a write changes nothing but when the start offset may advance. Kafka tries that at the
    answer to each of its payloads, and not every try gets as far as it could: later timers have not fired yet,
    or another write is still out. Ours is answered with the last of Kafka's answers, or as soon as Kafka's start
    offset is ahead of ours (:func:`catch_up`).
    """
    recorded = [write for timeout in timeouts for write in writes_of(timeout)]
    letters = [letter for timeout in timeouts for letter in dead_letters_of(timeout)]
    polled = under_test.poll_writes()
    under_test.record_writes(recorded)
    if bool(recorded) != bool(polled):
        under_test.notice("write of the lock timeouts", recorded or "nothing to write", polled or "nothing")
    if recorded and polled and not letters:
        # With dead letters Kafka's payloads of both phases alternate, so no two of ours and its count alike.
        under_test.compare_counts(recorded[-1], polled[-1].state)
    later = {write.async_id for write in recorded if write.async_id is not None}
    at_once = [write for write in recorded if write.async_id is None]
    if later:
        under_test.compare_durable()
        parked = Parked(under_test, [write.token for write in polled], open_ids=later)
        return dict.fromkeys(later, parked)
    for write in polled:
        under_test.complete(write.token, _first_code(at_once), now_ms)
    under_test.check_dead_letters(letters, now_ms, [_first_code(at_once[1:])])
    return {}


def catch_up(under_test: PartitionUnderTest, parked: Iterable[Parked], recorded: PartitionState | None, now_ms: int) -> None:
    """Answer our writes of lock timeouts, oldest first, as long as Kafka's start offset is ahead of ours.

    With a dead-letter queue each answer also hands records over, so there the recorded answers alone decide.
    """
    if recorded is None or under_test.settings.get("dead_letter_queue_topic"):
        return
    for each in parked:
        if recorded.start_offset <= under_test.partition.start_offset:
            return
        if each.partition is under_test and not each.member_waits and not each.done:
            each.done = True
            for token in each.tokens:
                under_test.complete(token, 0, now_ms)


def _first_code(writes: Sequence[RecordedWrite]) -> int:
    return next((write.error_code for write in writes if write.error_code is not None), 0)
