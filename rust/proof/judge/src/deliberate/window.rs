//! K1 to K7, S6 to S8: where the window begins, how long it is and what may be acquired in it.

use share_state_core::kafka_code::KafkaCode;

use super::holes::null_pointer_across_start;
use super::{Case, cached};
use crate::operation::Verb;
use crate::outcome::{Answered, Outcome, Run, State};

pub(super) fn k1_start_offset_goes_back(case: &Case<'_>) -> bool {
    case.around.kafka.start < case.around.kafka_before.start
        && case.around.ours.start >= case.around.ours_before.start
        && case.differs_only(|_, _| false)
}

pub(super) fn k2_fetch_below_start_offset(case: &Case<'_>) -> bool {
    matches!(case.kafka.answered, Answered::Offset(next) if next < case.around.kafka.start)
        && matches!(case.ours.answered, Answered::Offset(next) if next >= case.around.ours.start)
}

/// A write is refused after the locks ran out and the log start passed the records.
pub(super) fn k2_available_below_start_offset(case: &Case<'_>) -> bool {
    let given_back = |state: &State| {
        state
            .runs
            .iter()
            .any(|run| run.state == 0 && !run.pending && run.first < state.start)
    };
    given_back(&case.around.kafka)
        && !given_back(&case.around.ours)
        && case.points[0].what == "in-flight state"
        && case.differs_only(|theirs, ours| {
            theirs.is_some_and(|run| run.state == 0 && run.first < case.around.kafka.start)
                && ours.is_none_or(Run::done)
        })
}

fn pending(state: &State, offset: i64) -> bool {
    state
        .runs
        .iter()
        .any(|run| run.pending && run.first <= offset && offset <= run.last)
}

/// The log start splits a batch, and so does a compacted log. What Kafka takes for available then is acquired, or makes it throw,
/// so that after it the rest of what was fetched goes another way.
pub(super) fn k3_pending_lost(case: &Case<'_>) -> bool {
    let (theirs, ours) = (&case.around.kafka, &case.around.ours);
    let before = case.around.kafka_before.runs.iter();
    let lost = before.filter(|run| run.pending).find_map(|run| {
        (run.first..=run.last).find(|offset| !pending(theirs, *offset) && pending(ours, *offset))
    });
    let Some(lost) = lost else {
        return false;
    };
    case.differs_only(|theirs, ours| match case.op.verb {
        Verb::LogStart { .. } => {
            ours.is_some_and(|run| run.pending) && theirs.is_some_and(|run| !run.pending)
        }
        Verb::Acquire { .. } => theirs.or(ours).is_some_and(|run| run.last >= lost),
        _ => false,
    })
}

pub(super) fn k4_full_window_throws(case: &Case<'_>) -> bool {
    matches!(case.op.verb, Verb::Acquire { .. })
        && case.kafka.exception.as_deref() == Some("IllegalArgumentException")
        && case.ours.answered == Answered::Acquired(Vec::new())
        && case.only("answer")
}

/// Kafka's count is not the number of its own terminal records.
pub(super) fn k5_count_drifts(case: &Case<'_>) -> bool {
    let state = &case.around.kafka;
    let terminal: i64 = state
        .runs
        .iter()
        .filter(|run| run.terminal() && run.last >= state.start)
        .map(|run| run.last - run.first.max(state.start) + 1)
        .sum();
    terminal != state.delivery_complete
        && case
            .points
            .iter()
            .all(|point| point.what.starts_with("delivery complete count"))
}

pub(super) fn k6_acquired_below_start_offset(case: &Case<'_>) -> bool {
    let before = &case.around.kafka_before;
    let below = case
        .around
        .kafka
        .runs
        .iter()
        .filter(|run| run.first < before.start)
        .any(|run| {
            (run.first..=run.last.min(before.start - 1)).any(|offset| !cached(before, offset))
        });
    matches!(case.op.verb, Verb::Acquire { .. }) && below
}

/// A fetched batch of an aborted transaction begins below everything cached: Kafka finds no batch for it and throws after it has
/// acquired.
pub(super) fn k7_aborted_batch_throws(case: &Case<'_>) -> bool {
    let Verb::Acquire {
        fetched,
        aborted: Some(aborted),
        ..
    } = &case.op.verb
    else {
        return false;
    };
    let first = case
        .around
        .kafka
        .runs
        .first()
        .map_or(i64::MAX, |run| run.first);
    case.kafka.exception.as_deref() == Some("IllegalStateException")
        && fetched.iter().any(|b| {
            b.base < first
                && b.transactional
                && aborted.iter().any(|(producer, _)| *producer == b.producer)
        })
}

/// All in a full window is done: with us the start offset has passed it.
pub(super) fn s6_full_window_done(case: &Case<'_>) -> bool {
    let theirs = &case.around.kafka_before;
    let full = theirs.end - theirs.start + 1 >= i64::from(case.limits.max_locks);
    let emptied = |ours: &State| ours.runs.is_empty() && ours.start > theirs.end;
    full && !theirs.runs.is_empty()
        && theirs.runs.iter().all(Run::done)
        && (emptied(&case.around.ours_before) || emptied(&case.around.ours))
}

/// The batches that were read show that the gap holds no record: with us it goes on after that, or is closed.
pub(super) fn s7_gap_read_in_vain(case: &Case<'_>) -> bool {
    let (theirs, ours) = (case.around.kafka_before.gap, case.around.ours_before.gap);
    let fetches = matches!(
        case.op.verb,
        Verb::NextFetchOffset | Verb::CanAcquire | Verb::Acquire { .. }
    );
    let differ_before = (fetches || case.points[0].what == "start offset")
        && theirs.is_some_and(|gap| ours.is_none_or(|own| own > gap));
    let moved_now = matches!(case.op.verb, Verb::Acquire { .. })
        && case.ours.answered == Answered::Acquired(Vec::new())
        && case.around.kafka.gap == theirs
        && ours.is_some_and(|gap| case.around.ours.gap.is_none_or(|own| own > gap));
    differ_before || moved_now
}

/// Both start offsets are sound, and the answer depends on which one it is: a range of the request, or what was fetched, reaches
/// into the offsets between them, or the room in the window, which counts from the start offset on, is what limits the answer.
pub(super) fn s8_start_offset_ahead(case: &Case<'_>) -> bool {
    let (theirs, ours) = (&case.around.kafka_before, &case.around.ours_before);
    let (low, high) = (theirs.start.min(ours.start), theirs.start.max(ours.start));
    let length = |state: &State| {
        if state.runs.is_empty() {
            0
        } else {
            state.end - state.start + 1
        }
    };
    let room = i64::from(case.limits.max_locks) - length(theirs).max(length(ours));
    low < high
        && match &case.op.verb {
            Verb::Acknowledge { ranges, .. } => {
                // One side refuses what the other one ignores.
                (refuses(case.kafka) || refuses(case.ours) || null_pointer_across_start(case))
                    && ranges.iter().any(|r| r.first < high && r.last >= low)
            }
            Verb::Acquire {
                max_records,
                fetched,
                aborted,
                ..
            } => {
                let aborted = aborted.as_ref().is_some_and(|list| !list.is_empty());
                (room < i64::from(*max_records) && one_got_more(case, aborted))
                    || fetched.first().is_some_and(|batch| batch.base < high)
            }
            Verb::CanAcquire => case.only("answer") && room <= 0,
            Verb::NextFetchOffset => case.only("answer") && ours.start > theirs.end,
            _ => false,
        }
}

fn refuses(outcome: &Outcome) -> bool {
    let codes = [KafkaCode::InvalidRecordState, KafkaCode::InvalidRequest];
    outcome.writes.is_empty()
        && codes
            .iter()
            .any(|code| outcome.answered == Answered::Code(code.code()))
}

/// A side got what the other one got and more after it. The rest may belong to an aborted transaction, so that neither answer
/// shows it. Kafka may have thrown because its window was full (K4).
fn one_got_more(case: &Case<'_>, aborted: bool) -> bool {
    let offsets = |answered: &Answered| -> Option<Vec<(i64, i16)>> {
        let Answered::Acquired(ranges) = answered else {
            return None;
        };
        let each = |(first, last, count): &(i64, i64, i16)| {
            let count = *count;
            (*first..=*last).map(move |offset| (offset, count))
        };
        Some(ranges.iter().flat_map(each).collect())
    };
    let theirs = if case.kafka.exception.as_deref() == Some("IllegalArgumentException") {
        Some(Vec::new())
    } else {
        offsets(&case.kafka.answered)
    };
    let (Some(theirs), Some(ours)) = (theirs, offsets(&case.ours.answered)) else {
        return false;
    };
    (aborted || theirs.len() != ours.len())
        && (theirs.starts_with(&ours) || ours.starts_with(&theirs))
}
