//! Locks: the time in which a record is in a member's hands.

use crate::event::{AckType, Nanos, Outcome};
use crate::record_events::{Acked, Granted, RecordEvents, may_have_passed};
use crate::share_partition::SharePartition;

/// End of a lock, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct Lock {
    /// Time until which the member holds the record for certain, whoever leads.
    pub least: Nanos,
    /// Earliest time at which its leader may have written that it was over.
    pub over: Nanos,
    /// The earliest deadline, whatever ended the lock before.
    pub deadline: Nanos,
    /// Time from which nobody holds it by this grant.
    pub most: Nanos,
    /// True if its deadline ended it, as far as the history tells.
    pub ran_out: bool,
    /// The renewal that the earliest deadline comes of.
    pub renewal: Option<u32>,
}

impl Lock {
    /// The locks of all grants of a record; none where there is one grant, for nothing is asked of it.
    pub fn of_all(partition: &SharePartition<'_>, record: &RecordEvents) -> Vec<Self> {
        let grants = record.grants.iter().filter(|_| record.grants.len() > 1);
        grants
            .map(|grant| Self::of(partition, record, grant))
            .collect()
    }

    /// The lock of a grant. The server took it after the request left and before the answer came, so its deadline lies
    /// between `sent + lock` and `t + lock`.
    pub fn of(partition: &SharePartition<'_>, record: &RecordEvents, grant: &Granted) -> Self {
        // What the member asked later belongs to its next grant. An answer that came later may be of an earlier grant: two
        // processes of one member have their own connections.
        let own = record.grants_of(grant.member);
        let later = own.partition_point(|other| other.t <= grant.t);
        let next = own
            .iter()
            .skip(later)
            .find(|other| {
                // Counts tell the order within one state.
                let is_counted = other.period.is_some() && other.period == grant.period;
                other.sent >= grant.t || is_counted && other.count > grant.count
            })
            .map_or(Nanos::MAX, |other| other.t);
        let asked = next.saturating_sub(1);
        let Deadline {
            earliest: deadline,
            latest: mut most,
            renewal,
        } = Deadline::of(partition, record, grant, later, asked);
        let mut least = deadline;
        let mut ran_out = true;
        // At one instant it may be of either.
        let ends = record
            .acks_taken(partition, grant.member, grant.sent, next)
            .filter(|ack| {
                ack.kind != AckType::Renew && !is_of_earlier(partition, record, grant, ack)
            });
        for ack in ends {
            least = least.min(ack.sent);
            if ack.outcome == Outcome::Ok {
                most = most.min(ack.t);
            }
            ran_out &= ack.outcome == Outcome::Refused;
        }
        if record.lingering(grant.member, grant.sent).others > 0 {
            least = grant.sent;
            ran_out = false;
        }
        // What is renewed later was not released by a cut before.
        let held = renewal.map_or(grant.t, |(sent, _)| sent.max(grant.t));
        if let Some(cut) = partition.cut_of(grant.member, held) {
            least = least.min(cut);
            ran_out &= cut > deadline;
        }
        // The end of the connection that it had before ends the session that it has begun on another one.
        let before = partition.lingering.saturating_add(partition.settings.skew);
        if let Some(gone) = partition.gone_of(grant.member, grant.sent.saturating_sub(before)) {
            least = least.min(gone);
            ran_out &= gone > deadline;
        }
        if let Some(reset) = partition.periods.next_reset(grant.t) {
            least = least.min(reset);
            ran_out = false;
        }
        let mut over = least;
        if let Some(begun) = partition.failovers.since(grant.sent) {
            least = least.min(begun);
            ran_out = false;
            // Another leader may have given it to the member too: what the member says may be of either.
            if own.len() > 1 {
                over = over.min(grant.sent.saturating_add(grant.lock));
                let said = record.acks_taken(partition, grant.member, grant.sent, over);
                let ends = said.filter(|ack| ack.kind != AckType::Renew);
                over = ends.map(|ack| ack.sent).fold(over, Nanos::min);
            }
        }
        Self {
            least: least.max(grant.t),
            over: over.max(grant.sent),
            deadline,
            most,
            ran_out,
            renewal: renewal
                .filter(|_| least > grant.sent.saturating_add(grant.lock))
                .map(|(_, event)| event),
        }
    }
}

/// Times at which the lock of a grant may run out, with its renewals.
struct Deadline {
    earliest: Nanos,
    latest: Nanos,
    /// The renewal that the earliest comes of: when it left, and its event.
    renewal: Option<(Nanos, u32)>,
}

impl Deadline {
    /// The member asked for the renewals until `asked`. Of its grants those from `later` on were answered after this one.
    fn of(
        partition: &SharePartition<'_>,
        record: &RecordEvents,
        grant: &Granted,
        later: usize,
        asked: Nanos,
    ) -> Self {
        let mut renewal = None;
        let mut least = grant.sent.saturating_add(grant.lock);
        let mut most = grant.t.saturating_add(grant.lock);
        let is_of_next = |ack: &Acked| {
            let answered = ack.t.saturating_add(partition.longest_wait);
            let next = record.grants_of(grant.member).iter().skip(later);
            let mut next = next.take_while(|other| other.t <= answered);
            next.any(|other| other.sent <= ack.t)
        };
        let renewals = record
            .acks_taken(partition, grant.member, grant.t, asked)
            .filter(|ack| ack.kind == AckType::Renew);
        for ack in renewals {
            match ack.outcome {
                Outcome::Ok => {
                    // Of a record below the start offset nothing is renewed; one whose lock still held was not there.
                    let is_held = ack.t <= least;
                    if is_held
                        || !is_of_next(ack) && !may_have_passed(partition, record, ack.event, ack.t)
                    {
                        let until = ack.sent.saturating_add(grant.lock);
                        if until > least {
                            least = until;
                            renewal = Some((ack.sent, ack.event));
                        }
                    }
                    most = most.max(ack.t.saturating_add(grant.lock));
                }
                // It may be taken at the last moment.
                Outcome::Unknown => most = most.saturating_add(grant.lock),
                Outcome::Refused => {}
            }
        }
        let earlier = record.lingering(grant.member, grant.t).renewals;
        most = most.saturating_add(grant.lock.saturating_mul(earlier));
        Self {
            earliest: least,
            latest: most,
            renewal,
        }
    }
}

/// Returns true if an acknowledgement, sent before the answer with this grant came, is for certain of an earlier grant: one whose
/// lock still held when it was answered, and that nothing else of the member's had ended.
fn is_of_earlier(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    grant: &Granted,
    ack: &Acked,
) -> bool {
    if ack.outcome == Outcome::Unknown {
        return false;
    }
    let by_then = ack.t.saturating_add(partition.settings.skew);
    let may_be_over = |other: &Granted| {
        let is_gone = partition.gone_of(grant.member, other.sent);
        let ended_it = |another: &Acked| {
            another.event != ack.event
                && another.kind != AckType::Renew
                && another.outcome != Outcome::Refused
        };
        is_gone.is_some_and(|gone| gone <= by_then)
            || record
                .acks_taken(partition, grant.member, other.sent, ack.t)
                .any(ended_it)
    };
    let held = |other: &Granted| {
        other.t <= ack.sent
            && other.sent.saturating_add(other.lock) > by_then
            && !partition.failovers.within(other.sent, ack.t)
            && partition.periods.only(other.sent, ack.t).is_some()
            && !may_be_over(other)
    };
    ack.sent < grant.t && record.grants_of(grant.member).iter().any(held)
}
