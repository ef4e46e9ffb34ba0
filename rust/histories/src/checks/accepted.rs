//! H1: a record that was accepted, rejected or found to be a gap with a confirmed answer is never delivered again.

use crate::event::{AckType, Nanos, Outcome};
use crate::record_events::{Acked, Granted, RecordEvents, may_have_passed};
use crate::share_partition::SharePartition;
use crate::violation::{Check, Violation};

/// Finds deliveries after the end of a record.
pub fn check(partition: &SharePartition<'_>, record: &RecordEvents, found: &mut Vec<Violation>) {
    let confirmed = record.ends.iter().filter(|ack| ack.outcome == Outcome::Ok);
    for ack in confirmed {
        let Some(period) = partition.periods.only(ack.sent, ack.t) else {
            continue;
        };
        let end = End::of(partition, record, ack);
        let mut later = record.grants.iter().filter(|grant| {
            grant.period == Some(period)
                && !end.may_be_unwritten(partition, grant)
                && !end.may_be_unknown(partition, record, grant)
        });
        if let Some(excerpt) = later.find_map(|grant| end.before(partition, grant)) {
            let text = "a record is delivered again after its acknowledgement was confirmed";
            found.push(partition.violation(Check::H1, record.span, text, excerpt));
        }
    }
}

/// A confirmed acknowledgement, and what is known of the record at its time.
struct End<'a> {
    ack: &'a Acked,
    /// The delivery that was acknowledged.
    held: Option<&'a Granted>,
    /// True if it may have found the record below the start offset, where it is confirmed and changes nothing.
    may_be_below: bool,
    /// True if a lock may have run out at the delivery limit before.
    may_have_run_out: bool,
}

impl<'a> End<'a> {
    fn of(partition: &SharePartition<'_>, record: &'a RecordEvents, ack: &'a Acked) -> Self {
        let held = acknowledged(record, ack);
        let is_held = held.is_some_and(|held| {
            holds(partition, record, held, ack) && !partition.failovers.within(held.sent, ack.t)
        });
        Self {
            ack,
            held,
            may_be_below: !is_held && may_have_passed(partition, record, ack.event, ack.t),
            may_have_run_out: !is_held && may_have_run_out(partition, record, ack),
        }
    }

    /// Events which show that a grant for certain followed it, if one did.
    fn before(&self, partition: &SharePartition<'_>, grant: &Granted) -> Option<Vec<u32>> {
        let end = self.ack;
        if self.held.is_some_and(|held| held.event == grant.event) {
            return None;
        }
        if grant.member == end.member && is_after(grant, end, 0) {
            return Some(vec![end.event, grant.event]);
        }
        let is_later = self.held.is_some_and(|held| grant.count > held.count);
        // Two clients may have two clocks. What the counts say needs none, unless the acknowledgement was late: it may have found
        // the record, delivered and ended since, below the start offset.
        let apart: Nanos = if (is_later || self.held.is_none()) && !self.may_be_below {
            0
        } else {
            partition.settings.skew
        };
        if is_after(grant, end, apart) {
            return Some(vec![end.event, grant.event]);
        }
        let held = self.held?;
        let followed = grant.member != end.member
            && is_later
            && grant.t > held.sent
            && grant.t > end.sent.saturating_add(partition.settings.skew)
            && !self.may_be_below;
        // By another member after the one that was acknowledged: the acknowledgement came first, or was of somebody who held
        // nothing. Not so where it may have found the record below the start offset.
        followed.then(|| vec![held.event, end.event, grant.event])
    }

    /// Returns true if a delivery may be of a leader before the one that confirmed it: that leader does not know of it. The leader
    /// that confirms gave the member the record, but for a record below the log start: of that any leader confirms all.
    fn may_be_unknown(
        &self,
        partition: &SharePartition<'_>,
        record: &RecordEvents,
        grant: &Granted,
    ) -> bool {
        let may_be_gone = self.may_be_below && partition.may_be_gone(record.first());
        let own = record.grants_of(self.ack.member).iter();
        let given = own.filter(|own| own.sent <= self.ack.t).map(|own| own.t);
        let given = given.max().filter(|_| !may_be_gone);
        let known = given.unwrap_or(self.ack.t);
        partition.failovers.within(grant.sent, known)
    }

    /// Returns true if it may have come after a lock had run out at the delivery limit. The leader archives the record then,
    /// whatever comes of the write, and passes it: the acknowledgement is confirmed and changes nothing, whoever sends it. A
    /// leader after it may not know of that, and delivers the record again.
    fn may_be_unwritten(&self, partition: &SharePartition<'_>, grant: &Granted) -> bool {
        self.may_have_run_out && partition.failovers.within(self.ack.sent, grant.t)
    }
}

/// Returns true if a request left after an acknowledgement was answered, by clocks that are so far apart. At one instant the
/// order of the lines decides.
fn is_after(grant: &Granted, end: &Acked, apart: Nanos) -> bool {
    (grant.sent, grant.event) > (end.t.saturating_add(apart), end.event)
}

/// Returns true if the member held the record for certain until its acknowledgement was answered, by the leader that gave it:
/// then the start offset had not passed it there. The lock runs by the server's clock, which the member's may be ahead of.
pub fn holds(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    held: &Granted,
    end: &Acked,
) -> bool {
    let given_back = record
        .acks_taken(partition, end.member, held.sent, end.t)
        .any(|ack| ack.event != end.event && ack.kind != AckType::Renew)
        || record.lingering(end.member, held.sent).others > 0;
    let went = partition.gone_of(end.member, held.sent);
    end.t.saturating_add(partition.settings.skew) < held.sent.saturating_add(held.lock)
        && held.t <= end.sent
        && !given_back
        && went.is_none_or(|t| t > end.t)
        && !partition.may_be_gone(record.first())
}

/// The delivery that was acknowledged: the member's last one before the answer.
fn acknowledged<'a>(record: &'a RecordEvents, end: &Acked) -> Option<&'a Granted> {
    let own = || {
        let of_member = record.grants_of(end.member).iter();
        of_member.filter(|grant| grant.sent <= end.t)
    };
    let before = own().filter(|grant| !is_after(grant, end, 0));
    let count = |grant: &&Granted| grant.count;
    before.max_by_key(count).or_else(|| own().max_by_key(count))
}

/// Returns true if a lock may have run out at the delivery limit before an acknowledgement was answered.
fn may_have_run_out(partition: &SharePartition<'_>, record: &RecordEvents, end: &Acked) -> bool {
    let by_then = end.t.saturating_add(partition.settings.skew);
    let ran_out = record.grants.iter().any(|held| {
        held.sent.saturating_add(held.lock) <= by_then
            && partition.may_be_used_up(held.count, held.sent, by_then)
    });
    // Nobody has seen one of the deliveries: each of their members has gone.
    let produced = record.produced.map_or(Nanos::MIN, |(t, _)| t);
    ran_out || partition.may_be_used_up(0, produced, by_then)
}
