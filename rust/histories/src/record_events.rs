//! Every event that concerns a record.

use core::ops::Range;

use crate::event::{AckType, Name, Nanos, Outcome, Span};
use crate::intervals::earliest_from_each;
use crate::share_partition::SharePartition;

/// Events that concern the records of a span.
#[derive(Debug, Default)]
pub struct RecordEvents {
    pub span: Option<Span>,
    /// Time at which they were produced, and the event.
    pub produced: Option<(Nanos, u32)>,
    /// Deliveries in the order of their answers.
    pub grants: Vec<Granted>,
    /// Acknowledgements in the order of their answers.
    pub acks: Vec<Acked>,
    /// Acknowledgements that may have ended the records.
    pub ends: Vec<Acked>,
    /// Earliest request among each grant and those after it.
    asked: Vec<Nanos>,
    /// The grants, each member's in the order of their answers.
    grants_by_member: Vec<Granted>,
    /// Place of the grant with the highest count of the member's up to each of `grants_by_member`; of several, the last.
    highest: Vec<usize>,
    /// The acknowledgements, each member's in the order of their answers, those of unknown outcome for themselves.
    acks_by_member: Vec<Acked>,
    /// Number of acknowledgements that stand before each of `acks_by_member`, and before the end.
    acks_before: Vec<AckCounts>,
}

/// Numbers of acknowledgements: renewals, and those that end a lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckCounts {
    pub renewals: i64,
    pub others: i64,
}

/// A delivery.
#[derive(Clone, Copy, Debug)]
pub struct Granted {
    pub t: Nanos,
    pub sent: Nanos,
    pub member: Name,
    pub count: i64,
    pub lock: Nanos,
    /// Number of the period between resets, if it is known.
    pub period: Option<usize>,
    pub event: u32,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    pub t: Nanos,
    pub sent: Nanos,
    pub member: Name,
    pub kind: AckType,
    pub outcome: Outcome,
    pub event: u32,
    /// The first delivery to another member after the one that was acknowledged, by its place among the grants: an
    /// acknowledgement of unknown outcome did not happen then. None where the member held the record again, for a request that is
    /// on its way for long may meet that delivery.
    pub denied_by: Option<usize>,
}

impl Acked {
    /// Returns true if the record may have ended with it.
    pub fn may_end(&self) -> bool {
        self.kind.is_terminal() && self.outcome != Outcome::Refused
    }
}

impl RecordEvents {
    /// The first offset of the span.
    pub fn first(&self) -> i64 {
        self.span.map_or(0, |span| span.first)
    }

    /// Returns true if the log has no record there: it has later ones, and nobody produced this one.
    pub fn is_gap(&self, partition: &SharePartition<'_>) -> bool {
        self.produced.is_none() && partition.log_end.is_some_and(|end| self.first() < end)
    }

    /// Time at which the record began, in a period, and the event: the reset, or the one that produced it.
    pub fn origin(&self, partition: &SharePartition<'_>, period: usize) -> Option<(Nanos, u32)> {
        let period = partition.periods.get(period);
        let reset = period.and_then(|period| Some((period.from, period.reset?.0)));
        reset.or(self.produced)
    }

    /// Earliest request of the grants from this one on: any of them may be the next delivery.
    pub fn next_asked(&self, at: usize) -> Option<Nanos> {
        self.asked.get(at).copied()
    }

    /// Grants of a member, in the order of the answers.
    pub fn grants_of(&self, member: Name) -> &[Granted] {
        let all = &self.grants_by_member;
        let from = all.partition_point(|grant| grant.member < member);
        let to = all.partition_point(|grant| grant.member <= member);
        all.get(from..to).unwrap_or(&[])
    }

    /// The delivery that an acknowledgement may be of: the one with the highest count that its member had when it left.
    pub fn acknowledged(&self, ack: &Acked) -> Option<&Granted> {
        let place = |grant: &Granted| (grant.member, grant.t);
        let had = |grant: &Granted| place(grant) <= (ack.member, ack.sent);
        let after = self.grants_by_member.partition_point(had);
        let last = after.checked_sub(1)?;
        let highest = self.grants_by_member.get(*self.highest.get(last)?)?;
        (highest.member == ack.member).then_some(highest)
    }

    /// The delivery which shows that an acknowledgement of unknown outcome did not happen.
    pub fn denied_by(&self, ack: &Acked) -> Option<&Granted> {
        self.grants.get(ack.denied_by?)
    }

    /// Range of the acknowledgements of a member that were answered, or waited for no longer, between two times.
    fn acks_answered(
        &self,
        member: Name,
        is_unknown: bool,
        from: Nanos,
        to: Nanos,
    ) -> Range<usize> {
        let all = &self.acks_by_member;
        let place = |ack: &Acked| (ack.member, ack.outcome == Outcome::Unknown, ack.t);
        let start = all.partition_point(|ack| place(ack) < (member, is_unknown, from));
        let end = all.partition_point(|ack| place(ack) <= (member, is_unknown, to));
        start..end
    }

    /// The acknowledgements of a member that the server may have taken between two times, but for those that linger.
    pub fn acks_taken(
        &self,
        partition: &SharePartition<'_>,
        member: Name,
        from: Nanos,
        to: Nanos,
    ) -> impl Iterator<Item = &Acked> {
        let until = to.saturating_add(partition.longest_wait);
        let of = move |is_unknown| {
            let range = self.acks_answered(member, is_unknown, from, until);
            self.acks_by_member.get(range).unwrap_or(&[]).iter()
        };
        of(false).chain(of(true)).filter(move |ack| ack.sent <= to)
    }

    /// The acknowledgements that a member had ceased to wait for by then. Each may be on its way without end: a server that stood
    /// still takes it when it goes on.
    pub fn lingering(&self, member: Name, by_then: Nanos) -> AckCounts {
        let before = by_then.saturating_sub(1);
        let range = self.acks_answered(member, true, Nanos::MIN, before);
        let at = |place: usize| self.acks_before.get(place).copied().unwrap_or_default();
        let (start, end) = (at(range.start), at(range.end));
        AckCounts {
            renewals: end.renewals - start.renewals,
            others: end.others - start.others,
        }
    }

    /// Returns true if a delivery may be of this period, and may be of another.
    pub fn has_crossing(&self, partition: &SharePartition<'_>, period: usize) -> bool {
        self.crossing(partition, period).next().is_some()
    }

    /// Number of the deliveries that may be of another period and that may stand between two of this one, by their counts.
    pub fn crossing_between(
        &self,
        partition: &SharePartition<'_>,
        period: usize,
        before: &Granted,
        later: &Granted,
    ) -> i64 {
        let between = |grant: &&Granted| before.count < grant.count && grant.count < later.count;
        self.crossing(partition, period).filter(between).count() as i64
    }

    /// Arranges grants and acknowledgements for those who ask, once all are there.
    pub fn arrange(&mut self, partition: &SharePartition<'_>) {
        self.asked.clear();
        let sent = self.grants.iter().map(|grant| grant.sent);
        self.asked.extend(sent);
        earliest_from_each(self.asked.iter_mut());
        self.grants_by_member.clone_from(&self.grants);
        self.grants_by_member
            .sort_unstable_by_key(|grant| (grant.member, grant.event));
        self.highest.clear();
        for (at, grant) in self.grants_by_member.iter().enumerate() {
            let before = self.highest.last().copied();
            let higher = before.filter(|&before| {
                let before = self.grants_by_member.get(before);
                before.is_some_and(|before| {
                    before.member == grant.member && before.count > grant.count
                })
            });
            self.highest.push(higher.unwrap_or(at));
        }
        for at in 0..self.acks.len() {
            let unknown = self
                .acks
                .get(at)
                .filter(|ack| ack.may_end() && ack.outcome == Outcome::Unknown);
            let denied_by = unknown.and_then(|ack| self.to_another(partition, ack));
            if let Some(ack) = self.acks.get_mut(at) {
                ack.denied_by = denied_by;
            }
        }
        self.ends.clear();
        self.ends
            .extend(self.acks.iter().filter(|ack| ack.may_end()));
        self.acks_by_member.clone_from(&self.acks);
        self.acks_by_member
            .sort_unstable_by_key(|ack| (ack.member, ack.outcome == Outcome::Unknown, ack.event));
        let mut before = AckCounts::default();
        self.acks_before.clear();
        self.acks_before.push(before);
        for ack in &self.acks_by_member {
            let renews = ack.kind == AckType::Renew;
            before.renewals += i64::from(renews);
            before.others += i64::from(!renews);
            self.acks_before.push(before);
        }
    }

    fn to_another(&self, partition: &SharePartition<'_>, ack: &Acked) -> Option<usize> {
        let held = self.acknowledged(ack)?;
        let period = partition.periods.at(ack.sent);
        let is_later = |grant: &Granted| grant.count > held.count && grant.period == Some(period);
        let from = self.grants.partition_point(|grant| grant.t <= held.sent);
        let first = self.grants.iter().skip(from).position(is_later)?;
        let again = self.grants_of(ack.member).iter().any(is_later);
        (!again).then_some(from + first)
    }

    fn crossing<'a>(
        &'a self,
        partition: &'a SharePartition<'_>,
        period: usize,
    ) -> impl Iterator<Item = &'a Granted> {
        let unsure = self.grants.iter().filter(|grant| grant.period.is_none());
        unsure.filter(move |grant| partition.periods.of(grant.sent, grant.t).contains(&period))
    }
}

/// Returns true if the start offset may have passed the record by `until`, without the acknowledgement `but`.
///
/// Below the start offset an acknowledgement is confirmed and changes nothing, whoever sends it.
pub fn may_have_passed(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    but: u32,
    until: Nanos,
) -> bool {
    let by_then = until.saturating_add(partition.settings.skew);
    let ended = || {
        record
            .acks
            .iter()
            .any(|ack| ack.event != but && ack.may_end() && ack.sent <= by_then)
    };
    partition.may_be_gone(record.first()) || ended() || may_be_used_up(partition, record, by_then)
}

/// Returns true if a delivery of the record that was asked for by then may have been the last one.
pub fn may_be_used_up(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    by_then: Nanos,
) -> bool {
    let mut grants = record.grants.iter().filter(|grant| grant.sent <= by_then);
    grants.any(|grant| partition.may_be_used_up(grant.count, grant.sent, by_then))
}
