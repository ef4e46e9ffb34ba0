//! H1: a record that was accepted, rejected or found to be a gap with a confirmed answer is never delivered again.

use crate::event::{AckType, Nanos, Outcome};
use crate::life::{Acked, Granted, Life, may_have_passed};
use crate::scene::Scene;
use crate::violation::{Check, Violation};

/// Finds deliveries after the end of a record.
pub fn check(scene: &Scene<'_>, life: &Life, found: &mut Vec<Violation>) {
    let confirmed = life.ends.iter().filter(|ack| ack.outcome == Outcome::Ok);
    for ack in confirmed {
        let Some(era) = scene.eras.only(ack.sent, ack.t) else {
            continue;
        };
        let end = End::of(scene, life, ack);
        let mut later = life
            .grants
            .iter()
            .filter(|grant| grant.era == Some(era) && !end.may_be_unwritten(scene, grant));
        if let Some(excerpt) = later.find_map(|grant| end.before(scene, grant)) {
            let text = "a record is delivered again after its acknowledgement was confirmed";
            found.push(scene.violation(Check::H1, life.span, text, excerpt));
        }
    }
}

/// A confirmed acknowledgement, and what is known of the record at its time.
struct End<'a> {
    ack: &'a Acked,
    /// The delivery that was acknowledged.
    held: Option<&'a Granted>,
    /// Whether it may have found the record below the start offset, where it is confirmed and changes nothing.
    may_be_below: bool,
    /// Whether a lock may have run out at the delivery limit before.
    may_have_run_out: bool,
}

impl<'a> End<'a> {
    fn of(scene: &Scene<'_>, life: &'a Life, ack: &'a Acked) -> Self {
        let held = acknowledged(life, ack);
        let is_held = held.is_some_and(|held| holds(scene, life, held, ack));
        Self {
            ack,
            held,
            may_be_below: !is_held && may_have_passed(scene, life, ack.event, ack.t),
            may_have_run_out: !is_held && may_have_run_out(scene, life, ack),
        }
    }

    /// Whether a grant for certain followed it; if so, the events that show it.
    fn before(&self, scene: &Scene<'_>, grant: &Granted) -> Option<Vec<u32>> {
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
            scene.settings.skew
        };
        if is_after(grant, end, apart) {
            return Some(vec![end.event, grant.event]);
        }
        let held = self.held?;
        let followed = grant.member != end.member
            && is_later
            && grant.t > held.sent
            && grant.t > end.sent.saturating_add(scene.settings.skew)
            && !self.may_be_below
            && !scene.failovers.within(grant.sent, held.t);
        // By another member after the one that was acknowledged: the acknowledgement came first, or was of somebody who held
        // nothing. Not so where it may have found the record below the start offset, or where the delivery may be of a leader
        // before, which counted by itself.
        followed.then(|| vec![held.event, end.event, grant.event])
    }

    /// Whether it may have come after a lock had run out at the delivery limit. The leader archives the record then, whatever comes
    /// of the write, and passes it: the acknowledgement is confirmed and changes nothing, whoever sends it. A leader after it may
    /// not know of that, and delivers the record again.
    fn may_be_unwritten(&self, scene: &Scene<'_>, grant: &Granted) -> bool {
        self.may_have_run_out && scene.failovers.within(self.ack.sent, grant.t)
    }
}

/// Whether a request left after an acknowledgement was answered, by clocks that are so far apart. At one instant the lines tell.
fn is_after(grant: &Granted, end: &Acked, apart: Nanos) -> bool {
    (grant.sent, grant.event) > (end.t.saturating_add(apart), end.event)
}

/// Whether the member held the record for certain until its acknowledgement was answered: then the start offset had not passed it.
/// The lock runs by the server's clock, which the member's may be ahead of.
fn holds(scene: &Scene<'_>, life: &Life, held: &Granted, end: &Acked) -> bool {
    let given_back = life
        .acks_taken(scene, end.member, held.sent, end.t)
        .any(|ack| ack.event != end.event && ack.kind != AckType::Renew)
        || life.lingering(end.member, held.sent).others > 0;
    let went = scene.gone_of(end.member, held.sent);
    end.t.saturating_add(scene.settings.skew) < held.sent.saturating_add(held.lock)
        && held.t <= end.sent
        && !given_back
        && went.is_none_or(|t| t > end.t)
        && !scene.failovers.within(held.sent, end.t)
        && !scene.may_be_gone(life.first())
}

/// The delivery that was acknowledged: the member's last one before the answer.
fn acknowledged<'a>(life: &'a Life, end: &Acked) -> Option<&'a Granted> {
    let own = || {
        let of_member = life.grants_of(end.member).iter();
        of_member.filter(|grant| grant.sent <= end.t)
    };
    let before = own().filter(|grant| !is_after(grant, end, 0));
    let count = |grant: &&Granted| grant.count;
    before.max_by_key(count).or_else(|| own().max_by_key(count))
}

/// Whether a lock may have run out at the delivery limit before an acknowledgement was answered.
fn may_have_run_out(scene: &Scene<'_>, life: &Life, end: &Acked) -> bool {
    let by_then = end.t.saturating_add(scene.settings.skew);
    let ran_out = life.grants.iter().any(|held| {
        held.sent.saturating_add(held.lock) <= by_then
            && scene.may_be_used_up(held.count, held.sent, by_then)
    });
    // Nobody has seen one of the deliveries: each of their members has gone.
    let produced = life.produced.map_or(Nanos::MIN, |(t, _)| t);
    ran_out || scene.may_be_used_up(0, produced, by_then)
}
