//! How long a record is in a member's hands.

use crate::event::{AckType, Nanos, Outcome};
use crate::life::{Acked, Granted, Life, may_have_passed};
use crate::scene::Scene;

/// What is known of the end of a lock.
#[derive(Clone, Copy, Debug)]
pub struct Lock {
    /// Until then the member holds the record for certain.
    pub least: Nanos,
    /// The earliest deadline, whatever ended the lock before.
    pub deadline: Nanos,
    /// From then on nobody holds it by this grant.
    pub most: Nanos,
    /// Whether its deadline ended it, as far as the history tells.
    pub ran_out: bool,
    /// The renewal that the earliest deadline comes of.
    pub renewal: Option<u32>,
}

impl Lock {
    /// The lock of a grant. The server took it after the request left and before the answer came, so its deadline lies
    /// between `sent + lock` and `t + lock`.
    pub fn of(scene: &Scene<'_>, life: &Life, grant: &Granted) -> Self {
        // What the member asked later belongs to its next grant. An answer that came later may be of an earlier grant: two
        // processes of one member have their own connections.
        let own = life.grants_of(grant.member);
        let later = own.partition_point(|other| other.t <= grant.t);
        let next = own
            .iter()
            .skip(later)
            .find(|other| {
                // Counts tell the order within one state.
                let is_counted = other.era.is_some() && other.era == grant.era;
                other.sent >= grant.t || is_counted && other.count > grant.count
            })
            .map_or(Nanos::MAX, |other| other.t);
        let asked = next.saturating_sub(1);
        let Deadline {
            earliest: deadline,
            latest: mut most,
            renewal,
        } = Deadline::of(scene, life, grant, later, asked);
        let mut least = deadline;
        let mut ran_out = true;
        // At one instant it may be of either.
        let ends = life
            .acks_taken(scene, grant.member, grant.sent, next)
            .filter(|ack| ack.kind != AckType::Renew && !is_of_earlier(scene, life, grant, ack));
        for ack in ends {
            least = least.min(ack.sent.max(grant.t));
            if ack.outcome == Outcome::Ok {
                most = most.min(ack.t);
            }
            ran_out &= ack.outcome == Outcome::Refused;
        }
        if life.lingering(grant.member, grant.sent).others > 0 {
            least = grant.t;
            ran_out = false;
        }
        // What is renewed later was not released by a cut before.
        let held = renewal.map_or(grant.t, |(sent, _)| sent.max(grant.t));
        if let Some(cut) = scene.cut_of(grant.member, held) {
            least = least.min(cut);
            ran_out &= cut > deadline;
        }
        if let Some(gone) = scene.gone_of(grant.member, grant.sent) {
            least = least.min(gone);
            ran_out &= gone > deadline;
        }
        if let Some(begun) = scene.failovers.since(grant.sent) {
            least = least.min(begun.max(grant.t));
            ran_out = false;
        }
        if let Some(reset) = scene.eras.next_reset(grant.t) {
            least = least.min(reset);
            ran_out = false;
        }
        Self {
            least: least.max(grant.t),
            deadline,
            most,
            ran_out,
            renewal: renewal
                .filter(|_| least > grant.sent.saturating_add(grant.lock))
                .map(|(_, event)| event),
        }
    }
}

/// When the lock of a grant runs out, with its renewals.
struct Deadline {
    earliest: Nanos,
    latest: Nanos,
    /// The renewal that the earliest comes of: when it left, and its event.
    renewal: Option<(Nanos, u32)>,
}

impl Deadline {
    /// The member asked for the renewals until `asked`. Of its grants those from `later` on were answered after this one.
    fn of(scene: &Scene<'_>, life: &Life, grant: &Granted, later: usize, asked: Nanos) -> Self {
        let mut renewal = None;
        let mut least = grant.sent.saturating_add(grant.lock);
        let mut most = grant.t.saturating_add(grant.lock);
        let is_of_next = |ack: &Acked| {
            let answered = ack.t.saturating_add(scene.longest_wait);
            let next = life.grants_of(grant.member).iter().skip(later);
            let mut next = next.take_while(|other| other.t <= answered);
            next.any(|other| other.sent <= ack.t)
        };
        let renewals = life
            .acks_taken(scene, grant.member, grant.t, asked)
            .filter(|ack| ack.kind == AckType::Renew);
        for ack in renewals {
            match ack.outcome {
                Outcome::Ok => {
                    // Of a record below the start offset nothing is renewed; one whose lock still held was not there.
                    let is_held = ack.t <= least;
                    if is_held
                        || !is_of_next(ack) && !may_have_passed(scene, life, ack.event, ack.t)
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
        let earlier = life.lingering(grant.member, grant.t).renewals;
        most = most.saturating_add(grant.lock.saturating_mul(earlier));
        Self {
            earliest: least,
            latest: most,
            renewal,
        }
    }
}

/// Whether an acknowledgement, sent before the answer with this grant came, is for certain of an earlier grant: one whose
/// lock still held when it was answered, and that nothing else of the member's had ended.
fn is_of_earlier(scene: &Scene<'_>, life: &Life, grant: &Granted, ack: &Acked) -> bool {
    if ack.outcome == Outcome::Unknown {
        return false;
    }
    let by_then = ack.t.saturating_add(scene.settings.skew);
    let may_be_over = |other: &Granted| {
        let is_gone = scene.gone_of(grant.member, other.sent);
        let ended_it = |another: &Acked| {
            another.event != ack.event
                && another.kind != AckType::Renew
                && another.outcome != Outcome::Refused
        };
        is_gone.is_some_and(|gone| gone <= by_then)
            || life
                .acks_taken(scene, grant.member, other.sent, ack.t)
                .any(ended_it)
    };
    let held = |other: &Granted| {
        other.t <= ack.sent
            && other.sent.saturating_add(other.lock) > by_then
            && !scene.failovers.within(other.sent, ack.t)
            && scene.eras.only(other.sent, ack.t).is_some()
            && !may_be_over(other)
    };
    ack.sent < grant.t && life.grants_of(grant.member).iter().any(held)
}
