"""The life of one record: what each row of its history becomes, and what is left open."""

from __future__ import annotations

import pytest

from share_state.operate import analysis
from share_state.operate.analysis.trace import NotInLogError, Outcome, RecordFacts, RecordTrace, trace
from tests.recordings import JOBS, ORDERS, recording_id, recordings

ORDERS_ID = "5f3ff250-a9a1-4215-bb36-c84728fd60e8"
#: A share partition with nothing but its initial state.
FIRST = analysis.HistoryRow("g", ORDERS_ID, 0, None, None, None, None, None, None, "initialised", 0, 1_000, 0, 0, 0, 0, 1, 0, 0)


def of_orders(offset: int, facts: RecordFacts | None = None) -> RecordTrace:
    return trace(analysis.history(ORDERS, group="orders-workers", topic_id=ORDERS_ID, partition=1), offset, facts)


def row(cause: str, was: tuple[int, int] | None, now: tuple[int, int] | None, at: int) -> analysis.HistoryRow:
    """A row of offset 7."""
    place = FIRST._replace(cause=cause, at_offset=at, at_timestamp=1_000 + at, first_offset=5, last_offset=9)
    (from_state, from_count), (to_state, to_count) = was or (None, None), now or (None, None)
    return place._replace(from_state=from_state, from_count=from_count, to_state=to_state, to_count=to_count)


def of(*rows: analysis.HistoryRow, facts: RecordFacts | None = None) -> RecordTrace:
    return trace([FIRST, *rows], 7, facts)


def last_text(*rows: analysis.HistoryRow, facts: RecordFacts | None = None) -> str:
    return of(*rows, facts=facts).events[-1].text


def test_a_record_at_its_limit_is_told_from_its_production_to_its_end() -> None:
    facts = RecordFacts(produced_ms=1_795_254_294_000, delivery_limit=3, lock_duration_ms=2_000)
    found = of_orders(1_251, facts)
    assert (found.group, found.topic_id, found.partition, found.offset) == ("orders-workers", ORDERS_ID, 1, 1_251)
    assert (found.outcome, found.summary) == (Outcome.ARCHIVED, "archived after 3 deliveries")
    assert (found.state, found.delivery_count, found.state_partition, found.start_offset) == (4, 3, 1, 1_255)
    told = [(event.kind, event.at_offset, event.state, event.delivery_count) for event in found.events]
    assert told == [
        ("produced", None, None, None),
        ("initialised", 0, None, None),
        ("start_offset_resolved", 96, None, None),
        ("released", 132, 0, 1),
        ("released", 615, 0, 2),
        ("archived", 641, 4, 3),
        ("passed", 642, None, None),
    ]
    texts = [event.text for event in found.events]
    assert texts[4] == "available again after delivery 2: released, or its lock ran out"
    assert texts[5] == "archived after delivery 3: at the delivery limit of 3: released, rejected, or its lock ran out"
    assert texts[6] == "passed by the start offset as archived after 3 deliveries: its life in the group is over"
    assert [event.at_ms for event in found.events] == sorted(event.at_ms for event in found.events)
    assert not any("produced" in sentence for sentence in found.untold)


@pytest.mark.parametrize(
    ("offset", "outcome", "counted"),
    [
        (0, Outcome.BEFORE_THE_START, None),
        (300, Outcome.ACCEPTED, 2),
        (1_258, Outcome.AVAILABLE, 2),
        (1_435, Outcome.AVAILABLE, 1),
    ],
)
def test_each_record_of_a_recording_has_its_outcome(offset: int, outcome: Outcome, counted: int | None) -> None:
    found = of_orders(offset)
    assert (found.outcome, found.delivery_count) == (outcome, counted)
    assert any("When it was produced" in sentence for sentence in found.untold)


@pytest.mark.parametrize("directory", recordings(), ids=recording_id)
def test_the_last_state_of_every_record_is_that_of_the_fold(directory: object) -> None:
    """Whatever else a trace says, its state is what the state topic holds."""
    states, _ = analysis.fold_path(directory)  # type: ignore[arg-type]  # a path
    compared = 0
    for state in states:
        rows = list(analysis.history(directory, group=state["group"], topic_id=state["topic_id"], partition=state["partition"]))  # type: ignore[arg-type]
        for first, _last, delivery_state, count in state["batches"][:20]:
            found = trace(rows, first)
            assert (found.state, found.delivery_count, found.start_offset) == (delivery_state, count, state["start_offset"])
            compared += 1
    assert compared > 20


def test_an_offset_that_nobody_has_seen_is_refused() -> None:
    with pytest.raises(NotInLogError, match=r"^offset 5000 was never seen: the log tells of offsets up to 1435$") as unseen:
        of_orders(5_000)
    assert (unseen.value.field, unseen.value.value) == ("offset", 5_000)
    with pytest.raises(NotInLogError, match="ends before offset 1500"):
        of_orders(1_500, RecordFacts(log_end_offset=1_500))
    with pytest.raises(NotInLogError, match="tells of no offset"):
        trace([FIRST], 0)
    with pytest.raises(NotInLogError, match="no such share partition") as absent:
        trace([], 0)
    assert absent.value.field == "partition"


def test_a_record_that_the_topic_has_and_the_log_does_not_is_told_as_such() -> None:
    found = of_orders(1_499, RecordFacts(log_end_offset=1_500))
    assert (found.outcome, found.state) == (Outcome.NOTHING_WRITTEN, None)
    assert found.untold[-1] == "A record in a member's hands since its first delivery looks like one that was never delivered."


def test_what_archived_it_is_told_as_far_as_the_limit_says() -> None:
    archived = row("archived", (0, 1), (4, 2), 3)
    texts = [last_text(archived, facts=RecordFacts(delivery_limit=limit)) for limit in (None, 2, 5)]
    assert texts == [
        "archived after delivery 2: rejected, at the delivery limit, or reported as a gap",
        "archived after delivery 2: at the delivery limit of 2: released, rejected, or its lock ran out",
        "archived after delivery 2: rejected, or reported as a gap: the delivery limit is 5",
    ]
    in_nobodys_hands = row("archived", (0, 2), (4, 2), 3)
    assert last_text(in_nobodys_hands).startswith("archived, without another delivery: it was in no member's hands")
    assert last_text(row("archived", (3, 2), (4, 2), 3)).endswith("its way to the dead-letter queue has ended")


def test_a_lock_that_cannot_have_run_out_is_no_choice() -> None:
    rows = [row("released", None, (0, 1), 10), row("released", (0, 1), (0, 2), 40)]
    either = "available again after delivery 2: released, or its lock ran out"
    assert last_text(*rows) == last_text(*rows, facts=RecordFacts(lock_duration_ms=30)) == either
    assert "probably released by a member" in last_text(*rows, facts=RecordFacts(lock_duration_ms=31))
    # Since when it was available is not known of a first delivery, nor of one of several.
    assert "probably" not in last_text(rows[0], facts=RecordFacts(lock_duration_ms=10**9))
    several = row("released", (0, 1), (0, 3), 40)
    text = last_text(rows[0], several, facts=RecordFacts(lock_duration_ms=10**9))
    assert text.startswith("available again after delivery 3 (how the delivery before it ended is not in the log): released, or")


def test_how_it_was_passed_is_told() -> None:
    rows = {
        "which one is not written": row("passed", None, None, 3),
        "its life in the group is over": row("passed", (2, 1), None, 3),
        "or passed by the start of the topic's log; which one is not written": row("passed", (0, 1), None, 3),
    }
    assert [words for words, one in rows.items() if not last_text(one).endswith(words)] == []
    outcomes = [of(one).outcome for one in rows.values()]
    assert outcomes == [Outcome.PASSED, Outcome.ACCEPTED, Outcome.PASSED]


def test_a_log_that_forgets_or_contradicts_itself_is_told() -> None:
    released = row("released", None, (0, 1), 1)
    again = FIRST._replace(cause="initialised", at_offset=2, start_offset=6, state_epoch=2)
    assert of(released, again).outcome is Outcome.UNKNOWN
    beyond = again._replace(start_offset=100)
    assert of(released, beyond).outcome is Outcome.BEFORE_THE_START
    assert last_text(released, beyond).endswith("with the start offset at 100, after offset 7; the group does not deliver it")
    deleted = FIRST._replace(cause="deleted", at_offset=2)
    assert of(released, deleted).outcome is Outcome.DELETED
    assert of(released, row("forgotten", (0, 1), None, 2)).outcome is Outcome.UNKNOWN
    assert of(row("other_state", None, (9, 1), 2)).outcome is Outcome.UNKNOWN
    assert of(row("went_back", (2, 2), (0, 1), 2)).outcome is Outcome.AVAILABLE
    assert of(row("archiving", None, (3, 1), 2)).outcome is Outcome.ARCHIVING
    back = row("start_offset_went_back", None, None, 3)
    assert of(row("passed", (0, 1), None, 2), back).outcome is Outcome.UNKNOWN


def test_a_new_leader_concerns_only_a_record_that_somebody_may_hold() -> None:
    led = FIRST._replace(cause="led", at_offset=9, leader_epoch=4)
    assert [event.kind for event in of(row("released", None, (0, 1), 1), led).events][-1] == "led"
    assert [event.kind for event in of(row("accepted", None, (2, 1), 1), led).events][-1] == "accepted"


def test_every_cause_of_a_history_has_words() -> None:
    texts = {cause: of(row(cause, None, (0, 1), 1)).events[-1].text for cause in analysis.HistoryCause}
    assert all(texts.values())
    assert len(texts) == 18
    silent = ["snapshot", "counted", "snapshot_epoch_not_rising", "update_of_other_snapshot"]
    assert [cause for cause in silent if len(of(FIRST._replace(cause=cause), row("accepted", None, (2, 1), 1)).events) != 2] == []


def test_a_record_of_another_recording_ends_with_its_share_partition() -> None:
    rows = analysis.history(JOBS, group="jobs-leaver", topic_id="6b65c5c4-c6a9-4608-8d1c-fc6ed4ad77d2", partition=0)
    found = trace(rows, 0)
    assert found.outcome is Outcome.DELETED
    assert found.events[-1].text == "the state was deleted, with everything known of the record"
