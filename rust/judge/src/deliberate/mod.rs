//! Where share_state differs from Kafka on purpose (docs/deliberate-differences.md), each recognised by what happened and by
//! nothing wider.

mod holes;
mod requests;
#[cfg(test)]
mod tests;
mod window;

use share_state_core::kafka_code::KafkaCode;

use crate::compare::{Around, Point};
use crate::operation::{Limits, Operation, Range, Verb};
use crate::outcome::{Answered, Outcome, State};

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

/// The first that applies names the difference; the widest stands last.
const RULES: &[Rule] = &[
    ("V1", requests::v1_ranges_touch_or_descend),
    ("V2", requests::v2_too_few_types),
    ("V2", requests::v2_renewals_of_a_refused_request),
    ("V3", requests::v3_corrupt_state),
    ("V4", requests::v4_batch_size),
    ("V5", requests::v5_too_many_types),
    ("V6", requests::v6_negative_or_inverted),
    ("S4", requests::s4_nobody),
    ("N1", holes::n1_null_pointer),
    ("K1", window::k1_start_offset_goes_back),
    ("K2", window::k2_fetch_below_start_offset),
    ("K2", window::k2_available_below_start_offset),
    ("K3", window::k3_pending_lost),
    ("K4", window::k4_full_window_throws),
    ("K6", window::k6_acquired_below_start_offset),
    ("K5", window::k5_count_drifts),
    ("K7", window::k7_aborted_batch_throws),
    ("N1", holes::n1_hole_at_start_offset),
    ("S6", window::s6_full_window_settled),
    ("S7", window::s7_gap_read_in_vain),
    ("F1", holes::f1_gap_behind_the_mark),
    ("H1", holes::h1_range_begins_in_hole),
    ("L1", holes::l1_settled_batches_linger),
    ("L1", holes::l1_window_of_settled_batches),
    ("S8", window::s8_start_offset_ahead),
];

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
    RULES
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

fn cached(state: &State, offset: i64) -> bool {
    state
        .runs
        .iter()
        .any(|run| run.first <= offset && offset <= run.last)
}
