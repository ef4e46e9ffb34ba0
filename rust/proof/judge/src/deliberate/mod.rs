//! Deliberate differences from Kafka (docs/deliberate-differences.md), each recognised by what happened and by nothing wider.

mod holes;
mod requests;
#[cfg(test)]
mod tests;
mod window;

use share_state_core::kafka_code::KafkaCode;

use crate::compare::{Around, Point, from_start};
use crate::operation::{Limits, Operation, Range, Verb};
use crate::outcome::{Answered, Outcome, Run, State};
use crate::profile::Class;

/// A difference under the magnifying glass.
struct Case<'a> {
    op: &'a Operation,
    kafka: &'a Outcome,
    ours: &'a Outcome,
    around: &'a Around,
    points: &'a [Point],
    limits: Limits,
}

/// A way in which a deliberate difference shows.
pub struct Rule {
    /// The id of its entry on the page.
    pub id: &'static str,
    /// Description of what happens.
    pub what: &'static str,
    applies: fn(&Case<'_>) -> bool,
}

const fn rule(id: &'static str, what: &'static str, applies: fn(&Case<'_>) -> bool) -> Rule {
    Rule { id, what, applies }
}

/// The first that applies names the difference; the widest stands last.
pub const RULES: &[Rule] = &[
    rule(
        "V1",
        "ranges touch or descend",
        requests::v1_ranges_touch_or_descend,
    ),
    rule("V2", "too few types", requests::v2_too_few_types),
    rule(
        "V2",
        "renewals of a refused request",
        requests::v2_renewals_of_a_refused_request,
    ),
    rule("V3", "a corrupt state", requests::v3_corrupt_state),
    rule("V4", "a batch size", requests::v4_batch_size),
    rule("V5", "too many types", requests::v5_too_many_types),
    rule(
        "V6",
        "a negative or inverted range",
        requests::v6_negative_or_inverted,
    ),
    rule("S4", "nobody asks", requests::s4_nobody),
    rule(
        "S9",
        "one that does not serve is asked",
        requests::s9_not_active,
    ),
    rule(
        "N1",
        "an acknowledgement across the start offset",
        holes::n1_null_pointer,
    ),
    rule(
        "K1",
        "the start offset goes back",
        window::k1_start_offset_goes_back,
    ),
    rule(
        "K2",
        "a fetch below the start offset",
        window::k2_fetch_below_start_offset,
    ),
    rule(
        "K2",
        "available below the start offset",
        window::k2_available_below_start_offset,
    ),
    rule("K3", "a write under way is lost", window::k3_pending_lost),
    rule("K4", "a full window throws", window::k4_full_window_throws),
    rule(
        "K6",
        "acquired below the start offset",
        window::k6_acquired_below_start_offset,
    ),
    rule("K5", "the count drifts", window::k5_count_drifts),
    rule(
        "K7",
        "an aborted batch throws",
        window::k7_aborted_batch_throws,
    ),
    rule(
        "N1",
        "the persister's answer at a hole",
        holes::n1_hole_at_start_offset,
    ),
    rule("S6", "a full window is done", window::s6_full_window_done),
    rule("S7", "a gap read in vain", window::s7_gap_read_in_vain),
    rule("F1", "a gap after the mark", holes::f1_gap_after_the_mark),
    rule(
        "H1",
        "a range begins in a hole",
        holes::h1_range_begins_in_hole,
    ),
    rule("L1", "a done batch is found", holes::l1_done_batches_linger),
    rule(
        "L1",
        "a hole after a done batch",
        holes::l1_hole_behind_a_done_batch,
    ),
    rule(
        "L1",
        "a window of done batches",
        holes::l1_window_of_done_batches,
    ),
    rule(
        "S8",
        "the start offset is ahead",
        window::s8_start_offset_ahead,
    ),
];

/// The rule that the difference is a case of, if it is one.
#[must_use]
pub fn classify(
    op: &Operation,
    kafka: &Outcome,
    ours: &Outcome,
    around: &Around,
    points: &[Point],
    limits: Limits,
) -> Option<Class> {
    let case = Case {
        op,
        kafka,
        ours,
        around,
        points,
        limits,
    };
    let rule = RULES.iter().find(|rule| (rule.applies)(&case))?;
    Some((rule.id, rule.what))
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

    /// We refused the request as malformed, and nothing has changed.
    fn refused(&self) -> bool {
        self.we_answer(KafkaCode::InvalidRequest)
            && self.ours.writes.is_empty()
            && self.ours.letters.is_empty()
            && self.around.ours == self.around.ours_before
    }

    /// We refused the request as malformed, and it was malformed in this way.
    fn malformed(&self, how: impl Fn(&[Range]) -> bool) -> bool {
        self.refused() && self.ranges().is_some_and(how)
    }

    /// Returns true if the states afterwards differ nowhere but where `allowed` says so: Kafka's run and ours, `None` where
    /// nothing is cached or all is done below the higher start offset.
    fn differs_only(&self, allowed: impl Fn(Option<&Run>, Option<&Run>) -> bool) -> bool {
        let start = self.around.kafka.start.max(self.around.ours.start);
        let theirs = from_start(&self.around.kafka.runs, start);
        let ours = from_start(&self.around.ours.runs, start);
        let mut borders: Vec<i64> = Vec::new();
        for run in theirs.iter().chain(&ours) {
            borders.extend([run.first, run.last + 1]);
        }
        borders.sort_unstable();
        borders.dedup();
        fn at(runs: &[Run], offset: i64) -> Option<&Run> {
            runs.iter()
                .find(|run| run.first <= offset && offset <= run.last)
        }
        borders.iter().all(|offset| {
            let pair = (at(&theirs, *offset), at(&ours, *offset));
            let alike = match pair {
                (Some(a), Some(b)) => a.says_the_same(b),
                (a, b) => a.is_none() && b.is_none(),
            };
            alike || allowed(pair.0, pair.1)
        })
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
