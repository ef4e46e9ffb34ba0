//! Where share_state differs from Kafka on purpose (docs/deliberate-differences.md), each recognised by what happened and by
//! nothing wider.

use share_state_core::kafka_code::KafkaCode;

use crate::compare::{Around, Point};
use crate::operation::{Limits, Operation, Range, Verb};
use crate::outcome::{ACQUIRED, Answered, Outcome, Run, State};

/// A difference under the magnifying glass.
struct Case<'a> {
    op: &'a Operation,
    kafka: &'a Outcome,
    ours: &'a Outcome,
    around: &'a Around,
    points: &'a [Point],
    limits: Limits,
}

/// A name, and whether the difference is that one.
type Rule = (&'static str, fn(&Case<'_>) -> bool);

/// The name of the deliberate difference that it is, if it is one.
#[must_use]
pub fn classify(
    op: &Operation,
    kafka: &Outcome,
    ours: &Outcome,
    around: &Around,
    points: &[Point],
    limits: Limits,
) -> Option<&'static str> {
    let case = Case {
        op,
        kafka,
        ours,
        around,
        points,
        limits,
    };
    let rules: &[Rule] = &[
        ("V1", v1_ranges_touch_or_descend),
        ("V2", v2_too_few_types),
        ("V2", v2_renewals_of_a_refused_request),
        ("V3", v3_corrupt_state),
        ("V4", v4_batch_size),
        ("V5", v5_too_many_types),
        ("V6", v6_negative_or_inverted),
        ("S4", s4_nobody),
        ("N1", n1_null_pointer),
        ("K1", k1_start_offset_goes_back),
        ("K2", k2_fetch_below_start_offset),
        ("K2", k2_available_below_start_offset),
        ("K3", k3_pending_lost),
        ("K4", k4_full_window_throws),
        ("K6", k6_acquired_below_start_offset),
        ("K5", k5_count_drifts),
        ("K7", k7_aborted_batch_throws),
        ("N1", n1_hole_at_start_offset),
        ("S6", s6_full_window_settled),
        ("S7", s7_gap_read_in_vain),
        ("F1", f1_gap_behind_the_mark),
        ("H1", h1_range_begins_in_hole),
        ("L1", l1_settled_batches_linger),
        ("L1", l1_window_of_settled_batches),
        ("start offset", start_offset_ahead),
    ];
    rules
        .iter()
        .find(|(_, applies)| applies(&case))
        .map(|(name, _)| *name)
}

impl Case<'_> {
    fn ranges(&self) -> Option<&[Range]> {
        match &self.op.verb {
            Verb::Acknowledge { ranges, .. } => Some(ranges),
            _ => None,
        }
    }

    fn we_answer(&self, code: KafkaCode) -> bool {
        self.ours.answered == Answered::Code(code.code())
    }

    /// We refused the request as malformed, and it was malformed in this way.
    fn malformed(&self, how: impl Fn(&[Range]) -> bool) -> bool {
        self.we_answer(KafkaCode::InvalidRequest) && self.ranges().is_some_and(how)
    }

    fn only(&self, what: &str) -> bool {
        self.points.iter().all(|point| point.what == what)
    }
}

fn len(range: &Range) -> i64 {
    range.last.saturating_sub(range.first).saturating_add(1)
}

fn v1_ranges_touch_or_descend(case: &Case<'_>) -> bool {
    case.malformed(|ranges| {
        ranges
            .windows(2)
            .any(|pair| pair[1].first < pair[0].first || pair[1].first == pair[0].last)
    })
}

fn v2_too_few_types(case: &Case<'_>) -> bool {
    case.malformed(|ranges| {
        ranges
            .iter()
            .any(|r| r.types.is_empty() || (r.types.len() > 1 && (r.types.len() as i64) < len(r)))
    })
}

/// A refused request has renewed nothing with us; with Kafka the renewals before the range that is refused stand.
fn v2_renewals_of_a_refused_request(case: &Case<'_>) -> bool {
    let refused = matches!(case.kafka.answered, Answered::Code(code) if code != 0)
        && case.kafka.answered == case.ours.answered;
    let timeless = |state: &State| -> Vec<Run> {
        let mut runs = Vec::new();
        for run in &state.runs {
            crate::outcome::push(
                &mut runs,
                Run {
                    deadline: -1,
                    ..run.clone()
                },
            );
        }
        runs
    };
    refused
        && case.kafka.writes.is_empty()
        && case
            .ranges()
            .is_some_and(|ranges| ranges.iter().any(|r| r.types.contains(&4)))
        && case.only("in-flight state")
        && timeless(&case.around.kafka) == timeless(&case.around.kafka_before)
        && case.around.ours == case.around.ours_before
}

fn v3_corrupt_state(case: &Case<'_>) -> bool {
    let Verb::Initialize {
        batches,
        start_offset,
        code: 0,
        ..
    } = &case.op.verb
    else {
        return false;
    };
    let mut sorted = batches.clone();
    sorted.sort_unstable();
    let corrupt = batches
        .iter()
        .any(|b| b.0 < *start_offset || b.2 == 1 || b.3 < i16::from(b.2 != 4))
        || sorted.windows(2).any(|pair| pair[1].0 <= pair[0].1);
    corrupt && case.around.ours.status == "FAILED" && case.around.kafka.status == "ACTIVE"
}

/// With Kafka an inverted range is acquired; with aborted transactions the filter of the answer then never ends.
fn v4_batch_size(case: &Case<'_>) -> bool {
    matches!(case.op.verb, Verb::Acquire { batch_size, .. } if batch_size <= 0)
        && case.we_answer(KafkaCode::InvalidRequest)
}

fn v5_too_many_types(case: &Case<'_>) -> bool {
    case.malformed(|ranges| {
        ranges
            .iter()
            .any(|r| r.types.len() > 1 && r.types.len() as i64 > len(r))
    })
}

fn v6_negative_or_inverted(case: &Case<'_>) -> bool {
    case.malformed(|ranges| ranges.iter().any(|r| r.first < 0 || r.last < r.first))
}

fn s4_nobody(case: &Case<'_>) -> bool {
    matches!(
        case.op.verb,
        Verb::Acquire { member: 0, .. } | Verb::Acknowledge { member: 0, .. }
    ) && case.we_answer(KafkaCode::InvalidRequest)
}

/// Nothing is cached where Kafka looks, and it dereferences null; with us nobody holds such a record.
fn n1_null_pointer(case: &Case<'_>) -> bool {
    case.kafka.exception.as_deref() == Some("NullPointerException")
        && case.only("answer")
        && case.we_answer(KafkaCode::InvalidRecordState)
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

fn k1_start_offset_goes_back(case: &Case<'_>) -> bool {
    case.around.kafka.start < case.around.kafka_before.start
        && case.around.ours.start >= case.around.ours_before.start
}

fn k2_fetch_below_start_offset(case: &Case<'_>) -> bool {
    matches!(case.kafka.answered, Answered::Offset(next) if next < case.around.kafka.start)
        && matches!(case.ours.answered, Answered::Offset(next) if next >= case.around.ours.start)
}

fn pending(state: &State, offset: i64) -> bool {
    state
        .runs
        .iter()
        .any(|run| run.pending && run.first <= offset && offset <= run.last)
}

fn k3_pending_lost(case: &Case<'_>) -> bool {
    let before = &case.around.kafka_before;
    // The log start splits a batch, and so does a compacted log.
    matches!(case.op.verb, Verb::LogStart { .. } | Verb::Acquire { .. })
        && before.runs.iter().filter(|run| run.pending).any(|run| {
            (run.first..=run.last).any(|offset| {
                !pending(&case.around.kafka, offset) && pending(&case.around.ours, offset)
            })
        })
}

fn k4_full_window_throws(case: &Case<'_>) -> bool {
    matches!(case.op.verb, Verb::Acquire { .. })
        && case.kafka.exception.as_deref() == Some("IllegalArgumentException")
        && case.ours.answered == Answered::Acquired(Vec::new())
        && case.only("answer")
}

fn cached(state: &State, offset: i64) -> bool {
    state
        .runs
        .iter()
        .any(|run| run.first <= offset && offset <= run.last)
}

fn k6_acquired_below_start_offset(case: &Case<'_>) -> bool {
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

/// Kafka's count is not the number of its own terminal records.
fn k5_count_drifts(case: &Case<'_>) -> bool {
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

/// A write is refused after the locks ran out and the log start passed the records.
fn k2_available_below_start_offset(case: &Case<'_>) -> bool {
    let given_back = |state: &State| {
        state
            .runs
            .iter()
            .any(|run| run.state == 0 && !run.pending && run.first < state.start)
    };
    given_back(&case.around.kafka)
        && !given_back(&case.around.ours)
        && case.points[0].what == "in-flight state"
}

/// A fetched batch of an aborted transaction begins below everything cached: Kafka finds no batch for it and throws after it has
/// acquired.
fn k7_aborted_batch_throws(case: &Case<'_>) -> bool {
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

/// Kafka looks up the record at its start offset in the batch before, which does not reach it: the null pointer ends what the
/// answer of the persister would have done.
fn n1_hole_at_start_offset(case: &Case<'_>) -> bool {
    let state = &case.around.kafka;
    (!case.kafka.writes.is_empty() || matches!(case.op.verb, Verb::Completes { .. }))
        && !cached(state, state.start)
        && state.runs.iter().any(|run| run.last < state.start)
        && case.points[0].what != "answer"
}

/// All in a full window is settled: with us the start offset has passed it.
fn s6_full_window_settled(case: &Case<'_>) -> bool {
    let theirs = &case.around.kafka_before;
    let full = theirs.end - theirs.start + 1 >= i64::from(case.limits.max_locks);
    let emptied = |ours: &State| ours.runs.is_empty() && ours.start > theirs.end;
    full && !theirs.runs.is_empty()
        && theirs.runs.iter().all(Run::settled)
        && (emptied(&case.around.ours_before) || emptied(&case.around.ours))
}

/// Both refuse an acknowledgement of what is not in flight. Kafka's code says that the batch it found does not reach so far; it
/// found one that is settled and below our start offset, which we have forgotten.
fn l1_settled_batches_linger(case: &Case<'_>) -> bool {
    let state = &case.around.kafka_before;
    case.only("answer")
        && case.kafka.answered == Answered::Code(KafkaCode::InvalidRequest.code())
        && case.we_answer(KafkaCode::InvalidRecordState)
        && case.ranges().is_some_and(|ranges| {
            ranges.iter().any(|r| {
                let from = r.first.max(state.start);
                let floor = state.runs.iter().rev().find(|run| run.first <= from);
                floor.is_some_and(|run| {
                    run.settled() && run.last < r.last && run.last < case.around.ours_before.start
                }) && !case
                    .around
                    .ours_before
                    .runs
                    .iter()
                    .any(|run| run.first <= from)
            })
        })
}

/// Kafka has marked that there is nothing to look for, and then a fetch of an older offset has opened a gap again: it does not
/// look, and the gap is not read.
fn f1_gap_behind_the_mark(case: &Case<'_>) -> bool {
    let state = &case.around.kafka_before;
    matches!(case.op.verb, Verb::NextFetchOffset | Verb::CanAcquire)
        && !state.looks
        && state.gap.is_some()
        && state.gap == case.around.ours_before.gap
        && !matches!(case.kafka.answered, Answered::Offset(next) if next != state.end + 1)
}

/// A range begins in a hole. Kafka holds the batch before the hole to the member too, though no record of it is spoken of.
fn h1_range_begins_in_hole(case: &Case<'_>) -> bool {
    let state = &case.around.kafka_before;
    let Verb::Acknowledge { member, ranges, .. } = &case.op.verb else {
        return false;
    };
    case.kafka.answered == Answered::Code(KafkaCode::InvalidRecordState.code())
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

/// Settled batches below the start offset make Kafka's window one offset long; ours is empty.
fn l1_window_of_settled_batches(case: &Case<'_>) -> bool {
    let theirs = &case.around.kafka_before;
    matches!(case.op.verb, Verb::Acquire { .. } | Verb::CanAcquire)
        && !theirs.runs.is_empty()
        && theirs
            .runs
            .iter()
            .all(|run| run.settled() && run.last < theirs.start)
        && case.around.ours_before.runs.is_empty()
        && theirs.start == case.around.ours_before.start
}

/// What was read shows that the gap holds no record: with us it is closed.
fn s7_gap_read_in_vain(case: &Case<'_>) -> bool {
    let (theirs, ours) = (case.around.kafka_before.gap, case.around.ours_before.gap);
    let fetches = matches!(
        case.op.verb,
        Verb::NextFetchOffset | Verb::CanAcquire | Verb::Acquire { .. }
    );
    let differ_before = (fetches || case.points[0].what == "start offset")
        && theirs.is_some_and(|gap| ours.is_none_or(|own| own > gap));
    let closed_now = matches!(case.op.verb, Verb::Acquire { .. })
        && case.ours.answered == Answered::Acquired(Vec::new())
        && case.around.kafka.gap.is_some()
        && ours.is_some()
        && case.around.ours.gap.is_none();
    differ_before || closed_now
}

/// Both start offsets are sound, and the answer depends on which one it is: a range of the request, or what was fetched, reaches
/// into the offsets between them, or the room in the window, which counts from the start offset on, is what limits the answer.
fn start_offset_ahead(case: &Case<'_>) -> bool {
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
                ranges.iter().any(|r| r.first < high && r.last >= low)
            }
            Verb::Acquire {
                max_records,
                fetched,
                ..
            } => {
                room < i64::from(*max_records)
                    || fetched.first().is_some_and(|batch| batch.base < high)
            }
            Verb::CanAcquire => case.only("answer") && room <= 0,
            Verb::NextFetchOffset => case.only("answer") && ours.start > theirs.end,
            _ => false,
        }
}
