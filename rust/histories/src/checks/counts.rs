//! H4: the delivery count of a record rises by exactly one a grant, and never passes the limit.

use std::collections::BTreeMap;

use crate::event::Nanos;
use crate::record_events::{Granted, RecordEvents};
use crate::share_partition::SharePartition;
use crate::violation::{Check, Violation};

/// Finds counts that jump, repeat or go back, and those beyond their limits.
pub fn check(partition: &SharePartition<'_>, record: &RecordEvents, found: &mut Vec<Violation>) {
    if let Some(grant) = record
        .grants
        .iter()
        .find(|grant| grant.count > partition.settings.delivery_limit)
    {
        let text = "a delivery count is above the limit";
        found.push(partition.violation(Check::H4, record.span, text, vec![grant.event]));
    }
    if let Some(grant) = record.grants.iter().find(|grant| grant.count < 1) {
        let text = "a delivery count is below 1";
        found.push(partition.violation(Check::H4, record.span, text, vec![grant.event]));
    }
    let sure = record.grants.iter().filter(|grant| grant.period.is_some());
    let mut grants: Vec<&Granted> = sure.collect();
    grants.sort_by_key(|grant| grant.period);
    for grants in grants.chunk_by_mut(|before, later| before.period == later.period) {
        let Some(period) = grants.first().and_then(|grant| grant.period) else {
            continue;
        };
        rises(partition, record, period, grants, found);
        into_order(partition, grants);
        // Number of deliveries in a row whose release may be unwritten: the leader read the state again after each.
        let mut unwritten = 0;
        for pair in grants.windows(2) {
            if let [before, later] = *pair {
                let is_read_again = is_read_again(partition, before, later);
                unwritten = if is_read_again { unwritten + 1 } else { 0 };
                falls(partition, record, before, later, unwritten, found);
            }
        }
    }
}

/// Puts grants that were answered out of order into the order of their counts, as far as their times allow it.
fn into_order(partition: &SharePartition<'_>, grants: &mut [&Granted]) {
    for end in 1..grants.len() {
        for at in (1..=end).rev() {
            let (before, later) = match grants.get(at - 1..=at) {
                Some([before, later]) => (*before, *later),
                _ => break,
            };
            let overlap = later.sent <= before.t.saturating_add(partition.settings.skew);
            if later.count >= before.count || !overlap {
                break;
            }
            grants.swap(at - 1, at);
        }
    }
}

/// A count follows from a delivery with the count before it, whichever leader gave that. A record that was made within the history
/// begins with a count of 1; others before it may be unseen.
fn rises(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    period: usize,
    // In the order of their answers.
    grants: &[&Granted],
    found: &mut Vec<Violation>,
) {
    let mut asked = grants.to_vec();
    asked.sort_by_key(|grant| grant.sent);
    let mut coming = asked.into_iter().peekable();
    // The first delivery of each count, of those that may have come by then.
    let mut given: BTreeMap<i64, &Granted> = BTreeMap::new();
    for later in grants {
        let by_then = later.t.saturating_add(partition.settings.skew);
        while let Some(grant) = coming.next_if(|grant| grant.sent <= by_then) {
            given.entry(grant.count).or_insert(grant);
        }
        let lower = given.range(..later.count).next_back();
        let (text, event, unseen, most) = if let Some((_, before)) = lower {
            let (from, to) = (before.sent.min(later.sent), before.t.max(later.t));
            let crossing = || record.crossing_between(partition, period, before, later);
            let most = || unseen_within(partition, from, to).saturating_add(crossing());
            let unseen = later.count.saturating_sub(before.count).saturating_sub(1);
            let text = "a delivery count rose by more than one";
            // What may have been unseen is counted only where something was.
            (
                text,
                before.event,
                unseen,
                if unseen > 0 { most() } else { 0 },
            )
        } else if let Some((since, event)) = record.origin(partition, period) {
            // One whose answer crossed the reset may be the first.
            if record.has_crossing(partition, period) {
                continue;
            }
            // What was produced may be delivered before the producer knows it.
            let most = unseen_within(partition, since.min(later.sent), later.t);
            let text = "the first delivery of a record has another count than 1";
            (text, event, later.count.saturating_sub(1), most)
        } else {
            continue;
        };
        if unseen > most {
            let excerpt = vec![event, later.event];
            found.push(partition.violation(Check::H4, record.span, text, excerpt));
        }
    }
}

/// The counts of one leader rise with each delivery, but for those that were not written when it read the state again.
fn falls(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    before: &Granted,
    later: &Granted,
    unwritten: i64,
    found: &mut Vec<Violation>,
) {
    // What was not written when another leader took over is counted anew, and answers of both may cross.
    let (from, to) = time_of(before, later);
    if later.count <= before.count.saturating_sub(unwritten)
        && !partition.failovers.within(from, to)
    {
        let text = "a delivery count did not rise with a delivery";
        let excerpt = vec![before.event, later.event];
        found.push(partition.violation(Check::H4, record.span, text, excerpt));
    }
}

/// Returns true if the leader may have read the state again between two deliveries.
pub fn is_read_again(partition: &SharePartition<'_>, one: &Granted, other: &Granted) -> bool {
    let (from, to) = time_of(one, other);
    partition.reloads.meets(from, to)
}

/// Time from the first request to the last answer of two deliveries.
fn time_of(before: &Granted, later: &Granted) -> (Nanos, Nanos) {
    (before.sent.min(later.sent), before.t.max(later.t))
}

/// Number of deliveries that nobody may have seen within a time: each member that went may have taken one with it, and its answer
/// may still have been on its way when it went, a little later.
pub fn unseen_within(partition: &SharePartition<'_>, from: Nanos, to: Nanos) -> i64 {
    partition.gone_within(from, to.saturating_add(partition.lingering))
}
