//! V1 to V6, S4 and S9: what a request or a persisted state asks for.

use share_state_core::kafka_code::KafkaCode;

use super::Case;
use crate::operation::{Range, Verb};
use crate::outcome::{Answered, Run, State, push};

fn len(range: &Range) -> i64 {
    range.last.saturating_sub(range.first).saturating_add(1)
}

pub(super) fn v1_ranges_touch_or_descend(case: &Case<'_>) -> bool {
    case.malformed(|ranges| {
        ranges
            .windows(2)
            .any(|pair| pair[1].first < pair[0].first || pair[1].first == pair[0].last)
    })
}

pub(super) fn v2_too_few_types(case: &Case<'_>) -> bool {
    case.malformed(|ranges| {
        ranges
            .iter()
            .any(|r| r.types.is_empty() || (r.types.len() > 1 && (r.types.len() as i64) < len(r)))
    })
}

/// A refused request has renewed nothing with us; with Kafka the renewals before the range that is refused stand.
pub(super) fn v2_renewals_of_a_refused_request(case: &Case<'_>) -> bool {
    let refused = matches!(case.kafka.answered, Answered::Code(code) if code != 0)
        && case.kafka.answered == case.ours.answered;
    let timeless = |state: &State| -> Vec<Run> {
        let mut runs = Vec::new();
        for run in &state.runs {
            push(
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

pub(super) fn v3_corrupt_state(case: &Case<'_>) -> bool {
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

/// Kafka acquires an inverted range; with aborted transactions the filter of the answer then never ends.
pub(super) fn v4_batch_size(case: &Case<'_>) -> bool {
    matches!(case.op.verb, Verb::Acquire { batch_size, .. } if batch_size <= 0) && case.refused()
}

pub(super) fn v5_too_many_types(case: &Case<'_>) -> bool {
    case.malformed(|ranges| {
        ranges
            .iter()
            .any(|r| r.types.len() > 1 && r.types.len() as i64 > len(r))
    })
}

pub(super) fn v6_negative_or_inverted(case: &Case<'_>) -> bool {
    case.malformed(|ranges| ranges.iter().any(|r| r.first < 0 || r.last < r.first))
}

pub(super) fn s4_nobody(case: &Case<'_>) -> bool {
    matches!(
        case.op.verb,
        Verb::Acquire { member: 0, .. } | Verb::Acknowledge { member: 0, .. }
    ) && case.refused()
}

/// Kafka gives an acquire nothing, takes an acknowledgement, and says that records may be acquired.
pub(super) fn s9_not_active(case: &Case<'_>) -> bool {
    let code = match case.around.ours.status.as_str() {
        "ACTIVE" => return false,
        "FAILED" => KafkaCode::UnknownServerError,
        _ => KafkaCode::LeaderNotAvailable,
    };
    let asked = match case.op.verb {
        Verb::Acquire { .. } | Verb::Acknowledge { .. } => case.we_answer(code),
        Verb::CanAcquire => case.ours.answered == Answered::Flag(false),
        _ => false,
    };
    asked && case.around.ours == case.around.ours_before
}
