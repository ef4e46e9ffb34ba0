//! H1, H2, H4 and H7 beside a fail-over: each delivery was given by a leader that may have served then, and no leader gave what it
//! cannot have given by what it knew.
//!
//! A leader counts on from what it found, and what it found was written by those before it: the count of a delivery that was over. It
//! gives a count once, and gives nothing that is held or has ended as far as it knows. It may serve on when another one has taken over,
//! but then it writes nothing, so it confirms nothing.

use std::cmp::Ordering;

use crate::checks::accepted::holds;
use crate::checks::counts::{is_read_again, unseen_within};
use crate::event::{AckType, Nanos, Outcome};
use crate::lock::Lock;
use crate::record_events::{Acked, Granted, RecordEvents};
use crate::share_partition::SharePartition;
use crate::violation::{Check, Violation};

/// The most steps for a record; after them its deliveries may be explained.
const STEPS: usize = 20_000;
/// The most deliveries or acknowledgements of a record that is judged.
const MOST: usize = 32;

/// Rules that the leaders are held to, each with all before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Promise {
    Counts,
    Locks,
    Ends,
}

/// Finds deliveries that no leaders can have given.
pub fn check(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    locks: &[Lock],
    found: &mut Vec<Violation>,
) {
    // Some say what is wrong by fewer events.
    let is_known =
        |one: &Violation| matches!(one.check, Check::H1 | Check::H2 | Check::H4 | Check::H7);
    if found.iter().any(is_known) {
        return;
    }
    let mut deliveries: Vec<Delivery<'_>> = record
        .grants
        .iter()
        .zip(locks)
        .map(|(grant, lock)| Delivery {
            grant,
            over: lock.over,
            leaders: partition.failovers.leaders(grant.sent, grant.t),
        })
        .collect();
    deliveries.sort_by_key(|one| one.grant.period);
    for deliveries in deliveries.chunk_by(|one, next| one.grant.period == next.grant.period) {
        let Some(period) = deliveries.first().and_then(|one| one.grant.period) else {
            continue;
        };
        let first = deliveries.iter().map(|one| one.grant.sent).min();
        let may_differ = first.is_some_and(|sent| partition.failovers.since(sent).is_some());
        if !may_differ || deliveries.len() > MOST || record.has_crossing(partition, period) {
            continue;
        }
        if let Some(violation) = unexplained(partition, record, period, deliveries) {
            found.push(violation);
        }
    }
}

/// Delivery: from when on its lock may be over, and the least and the greatest epoch of the leader that gave it.
struct Delivery<'a> {
    grant: &'a Granted,
    over: Nanos,
    leaders: (i64, i64),
}

fn unexplained(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    period: usize,
    deliveries: &[Delivery<'_>],
) -> Option<Violation> {
    let acks = record.acks.iter().filter(|ack| {
        ack.outcome == Outcome::Ok
            && ack.kind != AckType::Renew
            && partition.periods.only(ack.sent, ack.t) == Some(period)
    });
    let acks: Vec<&Acked> = acks.collect();
    let mut story = Story {
        partition,
        record,
        since: record.origin(partition, period).map(|(since, _)| since),
        deliveries,
        acks: &acks,
        promise: Promise::Ends,
        steps: 0,
    };
    if acks.len() > MOST || story.is_told(&mut Vec::new()) {
        return None;
    }
    let one = deliveries.first()?.grant.member;
    let (counts, locks, ends) = (
        "no leader can have given a record with such a count",
        "a record is delivered while it is held, whoever leads",
        "a record is delivered again after its acknowledgement was confirmed, whoever leads",
    );
    let held = if deliveries.iter().any(|other| other.grant.member != one) {
        Check::H2
    } else {
        Check::H7
    };
    let mut keeps = |promise| {
        (story.promise, story.steps) = (promise, 0);
        story.is_told(&mut Vec::new())
    };
    let (check, text) = if !keeps(Promise::Counts) {
        (Check::H4, counts)
    } else if !keeps(Promise::Locks) {
        (held, locks)
    } else {
        (Check::H1, ends)
    };
    let events = deliveries.iter().map(|one| one.grant.event);
    let events = events.chain(acks.iter().map(|ack| ack.event));
    Some(partition.violation(check, record.span, text, events.collect()))
}

/// A delivery, and the epoch of the leader that gave it.
type Told<'a> = (&'a Delivery<'a>, i64);

/// Facts about a record, to be told by leaders.
struct Story<'a> {
    partition: &'a SharePartition<'a>,
    record: &'a RecordEvents,
    /// Time at which the record was made, if that is known.
    since: Option<Nanos>,
    /// Deliveries in the order of their answers.
    deliveries: &'a [Delivery<'a>],
    /// Acknowledgements that were confirmed, but for renewals.
    acks: &'a [&'a Acked],
    promise: Promise,
    steps: usize,
}

impl Story<'_> {
    /// Returns true if there are leaders that may have given all deliveries, the first of which these leaders gave.
    fn is_told(&mut self, leaders: &mut Vec<i64>) -> bool {
        self.steps += 1;
        if self.steps > STEPS {
            return true;
        }
        let Some(next) = self.deliveries.get(leaders.len()) else {
            self.steps += self.deliveries.len() * self.acks.len();
            return self.is_whole(leaders);
        };
        let (least, most) = next.leaders;
        (least..=most).any(|leader| {
            let mut before = self.deliveries.iter().zip(leaders.iter());
            let fits = before.all(|(other, &of)| of != leader || self.may_be_of_one(other, next));
            if !fits {
                return false;
            }
            leaders.push(leader);
            let is_told = self.is_told(leaders);
            leaders.pop();
            is_told
        })
    }

    /// Returns true if one leader may have given both: it gives each count once, unless it reads the state again between them.
    fn may_be_of_one(&self, one: &Delivery<'_>, other: &Delivery<'_>) -> bool {
        let is_read_again = || is_read_again(self.partition, one.grant, other.grant);
        match one.grant.count.cmp(&other.grant.count) {
            Ordering::Less => self.may_be_over(one, other),
            Ordering::Equal => is_read_again(),
            Ordering::Greater => self.may_be_over(other, one) || is_read_again(),
        }
    }

    /// Returns true if a delivery may have been over before another one.
    fn may_be_over(&self, before: &Delivery<'_>, later: &Delivery<'_>) -> bool {
        let since = if self.promise < Promise::Locks {
            before.grant.sent
        } else {
            before.over
        };
        since <= self.by_then(later)
    }

    fn by_then(&self, later: &Delivery<'_>) -> Nanos {
        later.grant.t.saturating_add(self.partition.settings.skew)
    }

    /// Returns true if every count follows from another one, and the acknowledgements are of somebody who held the record.
    fn is_whole(&self, leaders: &[i64]) -> bool {
        let all: Vec<Told<'_>> = self
            .deliveries
            .iter()
            .zip(leaders.iter().copied())
            .collect();
        all.iter().all(|of| self.follows(of, &all))
            && self.acks.iter().all(|ack| self.is_told_of(ack, &all))
    }

    /// Returns true if a leader may have come to a count: from its own delivery before, from one that was written by a leader
    /// before it, or from none; and what is missing may have been given unseen.
    fn follows(&self, &(later, leader): &Told<'_>, all: &[Told<'_>]) -> bool {
        let count = later.grant.count;
        let lower = || {
            all.iter()
                .filter(|(one, of)| *of <= leader && one.grant.count < count)
        };
        let missing = |count: i64, since: Nanos| {
            let missing = later.grant.count.saturating_sub(count).saturating_sub(1);
            missing == 0 || missing <= unseen_within(self.partition, since, later.grant.t)
        };
        let counted_on = |one: &Delivery<'_>| missing(one.grant.count, one.grant.sent);
        let own = lower().filter(|&&(_, of)| of == leader);
        if let Some((own, _)) = own.max_by_key(|(one, _)| one.grant.count) {
            return counted_on(own);
        }
        self.since
            .is_none_or(|since| missing(0, since.min(later.grant.sent)))
            || lower().any(|(one, _)| self.may_be_over(one, later) && counted_on(one))
    }

    /// Returns true if an acknowledgement that was confirmed may be of a delivery to its member: then it was written, and the
    /// leaders after it know that. Or it found the record below the start offset.
    fn is_told_of(&self, ack: &Acked, all: &[Told<'_>]) -> bool {
        let ends = ack.kind.is_terminal();
        if ends && self.promise < Promise::Ends {
            return true;
        }
        // Its member may have been given the record unseen.
        let since = self.since.unwrap_or(Nanos::MIN);
        if self.partition.may_be_given_unseen(ack.member, since, ack.t) {
            return true;
        }
        let mut own = all
            .iter()
            .filter(|(one, _)| one.grant.member == ack.member && one.grant.sent <= ack.t)
            .peekable();
        // Of what nobody saw it given, nothing is known.
        if own.peek().is_none() {
            return true;
        }
        let is_of = |&(held, of): &Told<'_>| {
            all.iter().all(|&(other, leader)| {
                let is_later = other.grant.count > held.grant.count;
                match leader.cmp(&of) {
                    Ordering::Less => true,
                    Ordering::Equal if !is_later => true,
                    // It came before what followed, and was written before another leader took over.
                    _ => !ends && is_later && ack.sent <= self.by_then(other),
                }
            })
        };
        own.any(is_of) || self.is_below(ack, all)
    }

    /// Returns true if the leader that confirmed it may have had the record below its start offset: it had ended there, and was
    /// not given again.
    fn is_below(&self, ack: &Acked, all: &[Told<'_>]) -> bool {
        let (partition, record) = (self.partition, self.record);
        let by_then = ack.t.saturating_add(partition.settings.skew);
        let since = self.since.unwrap_or(Nanos::MIN);
        if partition.may_be_used_up(0, since, by_then) {
            return true;
        }
        let (before, after): (Vec<_>, Vec<_>) =
            all.iter().partition(|(one, _)| one.grant.sent <= by_then);
        let (least, most) = partition.failovers.leaders(ack.sent, ack.t);
        // One that gave nothing is as good as the next one.
        let leaders = all.iter().flat_map(|&(_, of)| [of, of.saturating_add(1)]);
        let mut leaders = leaders
            .filter(|of| (least..=most).contains(of))
            .chain([least]);
        leaders.any(|leader| {
            let mut known = before.iter().filter(|&&&(_, of)| of <= leader);
            let used_up = known.any(|&&(one, _)| {
                one.over <= by_then
                    && partition.may_be_used_up(one.grant.count, one.grant.sent, by_then)
                    && !(one.grant.member == ack.member && holds(partition, record, one.grant, ack))
            });
            // It may be that only this leader knows of that.
            let is_used_up = used_up && after.iter().all(|&&(_, of)| of != leader);
            // A leader that is succeeded may not know where the log starts.
            let is_gone =
                partition.may_be_gone(record.first()) && after.iter().all(|&&(_, of)| of < leader);
            let mut ends = record
                .ends
                .iter()
                .filter(|end| end.event != ack.event && end.sent <= by_then);
            is_used_up
                || is_gone
                || ends.any(|end| {
                    partition.may_be_given_unseen(end.member, since, by_then)
                        || before.iter().any(|&&(held, by)| {
                            // The leaders that know of the end give it no more.
                            let last = (by, held.grant.count);
                            held.grant.member == end.member
                                && by <= leader
                                && all.iter().all(|&(one, of)| (of, one.grant.count) <= last)
                        })
                })
        })
    }
}
