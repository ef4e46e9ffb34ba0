//! H8: while members poll and nothing is locked, an available record is delivered within a bound.

use crate::checks::drained::starts_after;
use crate::checks::idle::Idle;
use crate::event::{AckType, Nanos, Outcome, What};
use crate::intervals::Intervals;
use crate::lock::Lock;
use crate::record_events::{Acked, Granted, RecordEvents};
use crate::reset_period::ResetPeriod;
use crate::share_partition::{LINGERING, SharePartition};
use crate::violation::{Check, Violation};

/// Number of deliveries that are looked at for one that passed a record over.
const PASSED_OVER: usize = 64;

/// A time in which a record waits for a delivery.
struct Wait<'a> {
    from: Nanos,
    to: Nanos,
    /// The event that it begins with.
    since: u32,
    /// The deliveries of the state before it, by the last count.
    count: i64,
    /// The delivery that ends it.
    next: Option<&'a Granted>,
}

impl Wait<'_> {
    /// Returns true if the count of the next delivery shows that nobody had the record meanwhile.
    fn tells_of_nobody(&self, partition: &SharePartition<'_>) -> bool {
        let next = self.next.filter(|next| next.period.is_some());
        next.is_some_and(|next| next.count == self.count.saturating_add(1))
            && !partition.failovers.within(self.from, self.to)
    }
}

/// Finds records that waited too long.
pub fn check(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    idle: &[Idle],
    found: &mut Vec<Violation>,
) {
    if record.is_gap(partition) {
        return;
    }
    let nobody = Intervals::default();
    for wait in waits(partition, record) {
        let held = if wait.tells_of_nobody(partition) {
            &nobody
        } else {
            &partition.held_unseen
        };
        for (from, to) in held.outside(wait.from, wait.to, partition.settings.within) {
            if let Some((text, shown)) = too_long(partition, record, idle, from, to) {
                let excerpt = [wait.since].into_iter().chain(shown).collect();
                found.push(partition.violation(Check::H8, record.span, text, excerpt));
                return;
            }
        }
    }
}

/// Fault of a record that should have been delivered within a time in which nobody had it, and the event that shows it.
fn too_long(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    idle: &[Idle],
    from: Nanos,
    to: Nanos,
) -> Option<(&'static str, Option<u32>)> {
    if let Some(other) = passed_over(partition, record, from, to) {
        let text = "records after an available one were delivered, and it was not, for longer than the bound";
        return Some((text, Some(other)));
    }
    let at = idle.partition_point(|idle| idle.to <= from);
    let mut idle = idle.iter().skip(at).take_while(|idle| idle.from < to);
    let found = idle.find(|idle| {
        idle.to.min(to).saturating_sub(idle.from.max(from)) > partition.settings.within
    })?;
    Some((
        "an available record was not delivered within the bound",
        found.until,
    ))
}

/// A delivery of later records that left when the record had waited for longer than the bound: a server delivers the first records
/// that are available. Each leader has the bound for itself.
fn passed_over(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    from: Nanos,
    to: Nanos,
) -> Option<u32> {
    // Then it is not known who gave the record last.
    if partition.failovers.within(from, from) {
        return None;
    }
    let within = partition.settings.within;
    let mut parts = partition.failovers.times.outside(from, to, within);
    parts.find_map(|(from, to)| passed_over_by_one(partition, record, from, to))
}

fn passed_over_by_one(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    from: Nanos,
    to: Nanos,
) -> Option<u32> {
    let skew = partition.settings.skew;
    let since = from
        .saturating_add(partition.settings.within)
        .saturating_add(skew);
    let events = &partition.events.grants;
    let at = events.partition_point(|&event| partition.event(event).t <= since);
    let after = events.iter().skip(at).take(PASSED_OVER).copied();
    after
        .take_while(|&event| partition.event(event).t.saturating_add(skew) < to)
        .find(|&event| match partition.event(event).what {
            What::Grant(grant) => grant.sent > since && grant.span.first > record.first(),
            _ => false,
        })
}

/// The times in which the record waits for a delivery. Each ends with the next delivery or reset, or once the log start has passed the
/// record.
fn waits<'a>(partition: &SharePartition<'_>, record: &'a RecordEvents) -> Vec<Wait<'a>> {
    // The log start may have moved before its move was answered.
    let passed = partition.log_start.passed(record.first());
    let passed = passed.map_or(partition.end, |t| t.saturating_sub(partition.lingering));
    let mut waits = Vec::new();
    let mut highest = (0, i64::MIN);
    for (at, grant) in record.grants.iter().enumerate() {
        // The counts begin anew with each period. If the delivery may be of two, a reset ends its wait.
        let period = *partition.periods.of(grant.sent, grant.t).start();
        let reset = partition
            .periods
            .get(period)
            .map_or(Nanos::MAX, |period| period.to);
        let next = record.grants.get(at + 1);
        let to = record
            .next_asked(at + 1)
            .unwrap_or(passed)
            .min(reset)
            .min(passed);
        // An answer that came late is not of the last delivery.
        let is_last = (period, grant.count) > highest;
        highest = highest.max((period, grant.count));
        // A leader before does not know what has ended.
        let may_be_unknown = partition.failovers.within(grant.sent, grant.t);
        let ended = || {
            let mut ends = record.ends.iter();
            ends.any(|ack| {
                let may_meet = ack.member == grant.member && ack.outcome == Outcome::Unknown;
                (may_be_unknown || may_meet || lingers(ack) >= grant.sent) && ack.sent <= to
            })
        };
        if is_last && !partition.may_be_used_up(grant.count, grant.sent, to) && !ended() {
            let lock = Lock::of(partition, record, grant);
            let (from, since) = given_back(partition, record, grant, &lock, to);
            waits.push(Wait {
                from,
                to,
                since,
                count: grant.count,
                next,
            });
        }
    }
    let periods = partition.periods.iter().enumerate();
    waits
        .extend(periods.filter_map(|(number, period)| {
            first_of_era(partition, record, number, period, passed)
        }));
    waits
}

/// Latest end of a delivery, and the event that shows it.
fn given_back(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    grant: &Granted,
    lock: &Lock,
    to: Nanos,
) -> (Nanos, u32) {
    let acks = record
        .acks_taken(partition, grant.member, grant.t, to)
        .filter(|ack| ack.sent >= grant.t);
    // A lock may end late: it holds as long as its member's acknowledgements are taken.
    let (late, in_time): (Vec<&Acked>, Vec<&Acked>) = acks.partition(|ack| ack.t > lock.most);
    let ends = |ack: &&Acked| ack.kind != AckType::Renew && ack.outcome == Outcome::Ok;
    let late = late
        .into_iter()
        .filter(|ack| ack.outcome != Outcome::Refused)
        .max_by_key(|ack| ack.t);
    match late.filter(|_| !in_time.iter().any(ends)) {
        Some(ack) => (ack.t, ack.event),
        None => {
            let last = in_time.iter().map(|ack| ack.event).max();
            (lock.most, last.unwrap_or(grant.event))
        }
    }
}

/// Latest time at which an acknowledgement may end a record that its member was given unseen: a member that went takes such a
/// record for as long.
fn lingers(ack: &Acked) -> Nanos {
    match ack.outcome {
        Outcome::Unknown => ack.t.saturating_add(LINGERING),
        Outcome::Ok | Outcome::Refused => ack.t,
    }
}

/// The wait before the first delivery of a period: a reset begins it, or the production after that. What was there, or is made, and is
/// left in, is available.
fn first_of_era<'a>(
    partition: &SharePartition<'_>,
    record: &'a RecordEvents,
    number: usize,
    period: &ResetPeriod,
    passed: Nanos,
) -> Option<Wait<'a>> {
    let offset = record.first();
    let next = record
        .grants
        .partition_point(|grant| grant.t <= period.from);
    let (from, since) = match (record.produced, period.reset) {
        // Where it starts is told later.
        (_, Some((_, ..0))) => return None,
        (Some((t, event)), _) if t > period.from => (t, event),
        // Nobody says that the record was there.
        (None, _) if next == 0 => return None,
        (_, reset) => (period.from, reset?.0),
    };
    let delivered = record.next_asked(next).unwrap_or(Nanos::MAX);
    let to = delivered.min(period.to).min(passed);
    // Where resets are many, they follow each other soon: the rest is asked only where it could tell.
    if to.saturating_sub(from) <= partition.settings.within || starts_after(record, period, offset)
    {
        return None;
    }
    let skew = partition.settings.skew;
    let has_ended = |(t, _, _): (Nanos, u32, bool)| t <= delivered.saturating_add(skew);
    let earliest = from.saturating_sub(skew);
    let mut ends = record.ends.iter();
    let may_have_ended = period.passed(offset).is_some_and(has_ended)
        || ends.any(|ack| lingers(ack) >= earliest && ack.sent <= to);
    let unsure = may_have_ended
        || record.has_crossing(partition, number)
        || partition.may_be_used_up(0, from, to);
    (!unsure).then_some(Wait {
        from,
        to,
        since,
        count: 0,
        next: record.grants.get(next),
    })
}
