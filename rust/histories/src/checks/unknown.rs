//! H6: an acknowledgement of unknown outcome happened once or not at all, and later reads agree.
//!
//! All ranges of an acknowledgement happen together. So it is wrong if one record shows that it happened, and one that it did
//! not. Two leaders may show either: one gives up a write, takes its records back and delivers them, and the next one finds
//! that the write has arrived.

use std::collections::BTreeMap;

use crate::event::{Nanos, Outcome, Span, What};
use crate::record_events::{Acked, Granted, RecordEvents, may_have_passed};
use crate::share_partition::SharePartition;
use crate::violation::{Check, Violation};

/// Evidence that the records show of each acknowledgement of unknown outcome, by its event.
#[derive(Debug, Default)]
pub struct Shown {
    acks: BTreeMap<u32, Evidence>,
}

/// The records that show it best. The earlier it is seen that it happened, and the later a delivery left that denies it, the
/// fewer failovers lie between them.
#[derive(Debug, Default)]
struct Evidence {
    /// Time at which it was seen to have happened, and the event.
    happened: Option<(Nanos, u32)>,
    /// The delivery, and its record.
    did_not: Option<(Granted, Span)>,
}

impl Shown {
    /// Takes in what a record shows.
    pub fn note(&mut self, partition: &SharePartition<'_>, record: &RecordEvents) {
        let Some(span) = record.span else {
            return;
        };
        for ack in &record.ends {
            let held = record.acknowledged(ack);
            let Some(held) = held.filter(|_| ack.outcome == Outcome::Unknown) else {
                continue;
            };
            // Below the start offset it changes nothing, and may have happened to the other records.
            let denies = !may_have_passed(partition, record, ack.event, ack.t);
            let again = record
                .denied_by(ack)
                .or_else(|| after_passed(partition, record, ack, held))
                .filter(|_| denies);
            let ended = ended(partition, record, ack, held);
            let evidence = self.acks.entry(ack.event).or_default();
            if let Some(grant) = again
                && evidence
                    .did_not
                    .is_none_or(|(known, _)| known.sent < grant.sent)
            {
                evidence.did_not = Some((*grant, span));
            }
            evidence.happened = evidence.happened.into_iter().chain(ended).min();
        }
    }

    /// Finds those that happened and did not.
    pub fn check(self, partition: &SharePartition<'_>, found: &mut Vec<Violation>) {
        for (ack, evidence) in self.acks {
            if let (Some((seen, happened)), Some((grant, span))) =
                (evidence.happened, evidence.did_not)
                && !partition.failovers.within(grant.sent, seen)
                && !may_meet_unseen(partition, ack, grant.sent, seen)
            {
                let text =
                    "one answer shows that an acknowledgement happened, another that it did not";
                let excerpt = vec![ack, happened, grant.event];
                found.push(partition.violation(Check::H6, Some(span), text, excerpt));
            }
        }
    }
}

/// Returns true if an acknowledgement that is on its way may meet a delivery to its member that nobody saw.
fn may_meet_unseen(partition: &SharePartition<'_>, ack: u32, from: Nanos, to: Nanos) -> bool {
    match partition.event(ack).what {
        What::Ack(ack) => partition.may_be_given_unseen(ack.member, from, to),
        _ => false,
    }
}

/// Returns true if the record may have ended by `until` with an acknowledgement: it was confirmed, or its outcome is unknown and
/// no delivery until then shows that it did not happen. An acknowledgement that one leader denies may be found by the next.
pub fn may_have_ended(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    ack: &Acked,
    until: Nanos,
) -> bool {
    let refuted = || {
        record.denied_by(ack).is_some_and(|grant| {
            grant.t <= until
                && !partition.failovers.within(grant.sent, until)
                && !partition.may_be_given_unseen(ack.member, grant.sent, until)
        })
    };
    ack.may_end() && ack.sent <= until && (ack.outcome == Outcome::Ok || !refuted())
}

/// Returns true if the record may have ended in a period by `until`, with any acknowledgement.
pub fn may_have_ended_in(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    period: usize,
    until: Nanos,
) -> bool {
    let mut ends = record.ends.iter();
    ends.any(|ack| may_end_in(partition, record, ack, period, until))
}

/// Returns true if it may have ended in the period with this acknowledgement. One that left before the period may meet a delivery to
/// its member within it.
fn may_end_in(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    ack: &Acked,
    period: usize,
    until: Nanos,
) -> bool {
    if partition.periods.at(ack.sent) == period {
        return may_have_ended(partition, record, ack, until);
    }
    let may_meet = || {
        let mut grants = record.grants_of(ack.member).iter();
        let from = partition
            .periods
            .get(period)
            .map_or(Nanos::MAX, |period| period.from);
        let is_within =
            |grant: &Granted| partition.periods.of(grant.sent, grant.t).contains(&period);
        grants.any(is_within) || partition.may_be_given_unseen(ack.member, from, until)
    };
    let is_late = ack.outcome == Outcome::Unknown && partition.periods.at(ack.sent) < period;
    let may_be_within = partition.periods.of(ack.sent, ack.t).contains(&period);
    ack.sent <= until && (may_be_within || is_late && may_meet())
}

/// The delivery of a record that the start offset had passed: if the acknowledgement explains that, the delivery denies it.
fn after_passed<'a>(
    partition: &SharePartition<'_>,
    record: &'a RecordEvents,
    ack: &Acked,
    held: &Granted,
) -> Option<&'a Granted> {
    let period = partition.periods.at(ack.sent);
    let (passed, ..) = partition.periods.get(period)?.passed(record.first())?;
    let since = passed.saturating_add(partition.settings.skew);
    let from = record.grants.partition_point(|grant| grant.t < since);
    let mut later = record.grants.iter().skip(from);
    later.find(|grant| {
        grant.sent >= since && grant.count > held.count && grant.period == Some(period)
    })
}

/// The event that shows that the acknowledgement happened, and its time: the start offset passed the record, or a drain left
/// it, and nothing else explains that.
fn ended(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    ack: &Acked,
    held: &Granted,
) -> Option<(Nanos, u32)> {
    let offset = record.first();
    let number = partition.periods.at(ack.sent);
    let period = partition.periods.get(number)?;
    // A reset that left the record out says nothing of what became of it.
    if period.reset.is_some_and(|(_, start)| start > offset) {
        return None;
    }
    let view = period.passed(offset).map(|(t, view, _)| (t, view));
    let next = partition.drained.partition_point(|&(t, _)| t < ack.sent);
    let drain = partition.drained.get(next).copied();
    let drain = drain.filter(|&(t, _)| partition.periods.only(t, t) == Some(number));
    let (t, event) = [view, drain].into_iter().flatten().min()?;
    let by_then = t.saturating_add(partition.settings.skew);
    let ended_by_another = || {
        let mut others = record.ends.iter().filter(|other| other.event != ack.event);
        others.any(|other| may_end_in(partition, record, other, number, by_then))
    };
    let used_up = || {
        let until = record.grants.iter().filter(|grant| grant.sent <= by_then);
        let highest = until.map(|grant| grant.count).max();
        highest.is_some_and(|count| partition.may_be_used_up(count, held.sent, by_then))
    };
    let explained =
        partition.may_be_gone(offset) || ack.sent > t || used_up() || ended_by_another();
    // A drain that finds the record delivered again says nothing of this acknowledgement.
    let delivered_again = Some((t, event)) == drain
        && record
            .grants
            .iter()
            .any(|grant| grant.count > held.count && grant.t <= t);
    (!explained && !delivered_again).then_some((t, event))
}
