//! H3: after a drain every record that was produced and retained was delivered, and ended: accepted, rejected, or at the
//! delivery limit.

use crate::checks::unknown::{may_have_ended, may_have_ended_in};
use crate::event::Nanos;
use crate::lock::Lock;
use crate::record_events::{Granted, RecordEvents};
use crate::reset_period::ResetPeriod;
use crate::share_partition::SharePartition;
use crate::violation::{Check, Violation};

/// Finds records that have vanished.
pub fn check(partition: &SharePartition<'_>, record: &RecordEvents, found: &mut Vec<Violation>) {
    let mut at = 0;
    while let Some(&drain) = partition.drained.get(at) {
        let (t, event) = drain;
        // Beside a reset the drain may be of either state.
        let mut periods = partition
            .periods
            .of(t, t)
            .map(|period| vanished(partition, record, drain, period));
        let first = periods.next().flatten();
        if let Some((text, mut excerpt)) = first
            && periods.all(|found| found.is_some())
        {
            excerpt.push(event);
            found.push(partition.violation(Check::H3, record.span, text, excerpt));
            return;
        }
        let next = next_change(partition, record, drain);
        let later = partition.drained.partition_point(|&(t, _)| t < next);
        // Nothing is later than the end of time.
        at = later.max(at + 1);
    }
}

/// A record that has not vanished at `t` has not either before this time: it is not wanted before it is produced or delivered, it
/// stays ended or used up until it is delivered again, and a reset changes all.
fn next_change(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    drain: (Nanos, u32),
) -> Nanos {
    let (t, _) = drain;
    let skew = partition.settings.skew;
    let seen = |grant: &Granted| {
        let times = [grant.sent, grant.t].into_iter();
        times.flat_map(move |t| [t.saturating_sub(skew), t])
    };
    // At one instant the first line comes first.
    let produced = record.produced.filter(|&produced| produced > drain);
    // From then on a drain is of a later state for certain. A time belongs to the period that ends with it.
    let period = partition.periods.get(*partition.periods.of(t, t).start());
    let reset = period.map(|period| period.to.saturating_add(skew).saturating_add(1));
    let times = record.grants.iter().flat_map(seen);
    times
        .chain(reset)
        .filter(|&other| other > t)
        .chain(produced.map(|(t, _)| t))
        .fold(Nanos::MAX, Nanos::min)
}

fn vanished(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    drain: (Nanos, u32),
    period: usize,
) -> Option<(&'static str, Vec<u32>)> {
    let (offset, (at, _)) = (record.first(), drain);
    if partition.may_be_gone(offset)
        || record.is_gap(partition)
        || !is_wanted(partition, record, drain, period)
        || record.has_crossing(partition, period)
    {
        return None;
    }
    // A member whose clock is ahead may have been given the record before.
    let by_then = at.saturating_add(partition.settings.skew);
    let of_era = record
        .grants
        .iter()
        .filter(|grant| grant.period == Some(period));
    let grants = of_era.filter(|grant| grant.sent <= by_then);
    let Some(last) = grants.max_by_key(|grant| (grant.count, grant.t)) else {
        let unseen = |t| {
            partition.may_be_used_up(0, t, at) || may_have_ended_unseen(partition, record, t, at)
        };
        if record.produced.is_some_and(|(t, _)| unseen(t)) {
            return None;
        }
        let produced = record.produced.map(|(_, event)| event);
        return Some((
            "a record was never delivered",
            produced.into_iter().collect(),
        ));
    };
    if may_have_ended_in(partition, record, period, by_then) {
        return None;
    }
    if partition.may_be_used_up(last.count, last.sent, at) {
        return None;
    }
    // What ended it may have come before the answer that gave it.
    let held_until = Lock::of(partition, record, last).least;
    if held_until > by_then && (last.t <= by_then || held_until > last.t) {
        return Some(("a record is still locked", vec![last.event]));
    }
    let text = "a record came back and was not delivered again, though it has deliveries left";
    let given_back = record
        .acks
        .iter()
        .filter(|ack| ack.member == last.member && ack.sent >= last.t && ack.sent <= at)
        .map(|ack| ack.event)
        .next_back();
    Some((text, given_back.into_iter().chain([last.event]).collect()))
}

/// Returns true if a member that went, and so may have been given the record unseen, came back and ended it.
fn may_have_ended_unseen(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    from: Nanos,
    at: Nanos,
) -> bool {
    let by_then = at.saturating_add(partition.settings.skew);
    record.acks.iter().any(|ack| {
        let gone = partition.gone_of(ack.member, from.saturating_sub(partition.settings.skew));
        gone.is_some_and(|gone| gone <= ack.t) && may_have_ended(partition, record, ack, by_then)
    })
}

/// Returns true if the share partition has to deliver the record: it was there before the drain, and not before the share
/// partition started.
fn is_wanted(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    drain: (Nanos, u32),
    number: usize,
) -> bool {
    let offset = record.first();
    let Some(period) = partition.periods.get(number) else {
        return false;
    };
    let mut grants = record.grants.iter();
    let was_granted =
        grants.any(|grant| grant.period == Some(number) && (grant.t, grant.event) <= drain);
    let was_produced = record.produced.is_some_and(|produced| produced <= drain);
    was_granted || (was_produced && !starts_after(record, period, offset))
}

/// Returns true if the share partition started after the record, as `share.auto.offset.reset=latest` has it: a reset says so, or
/// the first view, before any delivery.
pub fn starts_after(record: &RecordEvents, period: &ResetPeriod, offset: i64) -> bool {
    if let Some((_, start)) = period.reset {
        return offset < start;
    }
    let first = period
        .start_offsets
        .first()
        .filter(|&(start, _)| start > offset);
    let Some((_, (first_view, _))) = first else {
        return false;
    };
    let delivered_before = period.lows.first().is_some_and(|&(t, _)| t <= first_view);
    let produced_before = record.produced.is_some_and(|(t, _)| t <= first_view);
    !delivered_before && produced_before
}
