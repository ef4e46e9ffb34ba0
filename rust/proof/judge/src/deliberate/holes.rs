//! N1, H1, L1 and F1: what Kafka finds, or fails to find, where nothing is cached.

use share_state_core::kafka_code::KafkaCode;

use super::{Case, cached};
use crate::operation::Verb;
use crate::outcome::{ACQUIRED, ARCHIVING, Answered};

/// Nothing is cached where Kafka looks, and it dereferences null; with us nobody holds such a record.
pub(super) fn n1_null_pointer(case: &Case<'_>) -> bool {
    null_pointer_across_start(case)
        && case.only("answer")
        && case.we_answer(KafkaCode::InvalidRecordState)
}

/// A range reaches across Kafka's start offset, and nothing is cached there or below.
pub(super) fn null_pointer_across_start(case: &Case<'_>) -> bool {
    case.kafka.exception.as_deref() == Some("NullPointerException")
        && case.ranges().is_some_and(|ranges| {
            let start = case.around.kafka.start;
            let first = case
                .around
                .kafka
                .runs
                .first()
                .map_or(i64::MAX, |run| run.first);
            ranges
                .iter()
                .any(|r| r.first < start && r.last >= start && first > start)
        })
}

/// Kafka looks up the record at its start offset in the batch before, which does not reach it: the null pointer ends what the
/// answer of the persister would have done.
pub(super) fn n1_hole_at_start_offset(case: &Case<'_>) -> bool {
    let state = &case.around.kafka;
    (!case.kafka.writes.is_empty() || matches!(case.op.verb, Verb::Completes { .. }))
        && !cached(state, state.start)
        && state.runs.iter().any(|run| run.last < state.start)
        && case.points[0].what != "answer"
        && state.start <= case.around.ours.start
        && case.differs_only(|theirs, _| theirs.is_some_and(|run| run.state == ARCHIVING))
}

/// A range begins in a hole. Kafka holds the batch before the hole to the member too, though no record of it is spoken of.
pub(super) fn h1_range_begins_in_hole(case: &Case<'_>) -> bool {
    let state = &case.around.kafka_before;
    let Verb::Acknowledge { member, ranges, .. } = &case.op.verb else {
        return false;
    };
    case.kafka.answered == Answered::Code(KafkaCode::InvalidRecordState.code())
        && case.kafka.writes.is_empty()
        && ranges.iter().enumerate().any(|(index, r)| {
            let floor = state.runs.iter().rev().find(|run| run.first <= r.first);
            floor.is_some_and(|run| {
                // An earlier range of the request has begun to change the batch.
                let changed = ranges[..index]
                    .iter()
                    .any(|earlier| earlier.first <= run.last && earlier.last >= run.first);
                let held = run.state == ACQUIRED && run.member == *member && !run.pending;
                run.last < r.first && (changed || !held)
            })
        })
}

/// Both refuse an acknowledgement of what is not in flight. Kafka's code says that the batch it found does not reach so far; it
/// found one that is done and below our start offset, which we have forgotten.
pub(super) fn l1_done_batches_linger(case: &Case<'_>) -> bool {
    let state = &case.around.kafka_before;
    case.only("answer")
        && case.kafka.answered == Answered::Code(KafkaCode::InvalidRequest.code())
        && case.we_answer(KafkaCode::InvalidRecordState)
        && case.ranges().is_some_and(|ranges| {
            ranges.iter().any(|r| {
                let from = r.first.max(state.start);
                let floor = state.runs.iter().rev().find(|run| run.first <= from);
                floor.is_some_and(|run| {
                    run.done() && run.last < r.last && run.last < case.around.ours_before.start
                }) && !case
                    .around
                    .ours_before
                    .runs
                    .iter()
                    .any(|run| run.first <= from)
            })
        })
}

/// A range begins in a hole. Kafka finds a batch before it, which is done and below our start offset, and passes over the hole;
/// with us nothing is in flight at or before the range.
pub(super) fn l1_hole_behind_a_done_batch(case: &Case<'_>) -> bool {
    let (theirs, ours) = (&case.around.kafka_before, &case.around.ours_before);
    let Verb::Acknowledge { member, ranges, .. } = &case.op.verb else {
        return false;
    };
    let refused = [KafkaCode::InvalidRequest, KafkaCode::InvalidRecordState];
    let taken = refused
        .iter()
        .all(|code| case.kafka.answered != Answered::Code(code.code()));
    taken
        && case.we_answer(KafkaCode::InvalidRecordState)
        && case.around.ours == *ours
        && ranges.iter().any(|r| {
            let floor = theirs.runs.iter().rev().find(|run| run.first <= r.first);
            let next = ours.runs.first();
            floor.is_some_and(|run| run.done() && run.last < ours.start)
                && r.first >= ours.start
                && next.is_some_and(|run| {
                    r.first < run.first && run.first <= r.last && run.member == *member
                })
        })
}

/// Done batches below the start offset make Kafka's window one offset long; ours is empty.
pub(super) fn l1_window_of_done_batches(case: &Case<'_>) -> bool {
    let theirs = &case.around.kafka_before;
    matches!(case.op.verb, Verb::Acquire { .. } | Verb::CanAcquire)
        && !theirs.runs.is_empty()
        && theirs
            .runs
            .iter()
            .all(|run| run.done() && run.last < theirs.start)
        && case.around.ours_before.runs.is_empty()
        && theirs.start == case.around.ours_before.start
}

/// Kafka has marked that there is nothing to look for, and then a fetch of an older offset has opened a gap again: it does not
/// look, and the gap is not read.
pub(super) fn f1_gap_after_the_mark(case: &Case<'_>) -> bool {
    let state = &case.around.kafka_before;
    matches!(case.op.verb, Verb::NextFetchOffset | Verb::CanAcquire)
        && !state.looks
        && state.gap.is_some()
        && state.gap == case.around.ours_before.gap
        && !matches!(case.kafka.answered, Answered::Offset(next) if next != state.end + 1)
}
