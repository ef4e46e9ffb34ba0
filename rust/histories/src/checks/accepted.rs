//! H1: a record that was accepted, rejected or found to be a gap with a confirmed answer is never delivered again.

use crate::event::{AckType, Nanos, Outcome};
use crate::life::{Acked, Granted, Life, may_have_passed};
use crate::scene::Scene;
use crate::violation::{Check, Violation};

/// Finds deliveries after the end of a record.
pub fn check(scene: &Scene<'_>, life: &Life, found: &mut Vec<Violation>) {
    let ends = life
        .acks
        .iter()
        .filter(|ack| ack.kind.is_terminal() && ack.outcome == Outcome::Ok);
    for end in ends {
        let Some(era) = scene.only_era_of(end.sent, end.t) else {
            continue;
        };
        for grant in &life.grants {
            if grant.era != Some(era) || may_be_unwritten(scene, life, end, grant) {
                continue;
            }
            if let Some(excerpt) = after(scene, life, end, grant) {
                let text = "a record is delivered again after its acknowledgement was confirmed";
                found.push(scene.violation(Check::H1, life.span, text, excerpt));
                break;
            }
        }
    }
}

/// Whether a grant for certain followed an acknowledgement; if so, the events that show it.
fn after(scene: &Scene<'_>, life: &Life, end: &Acked, grant: &Granted) -> Option<Vec<u32>> {
    let acknowledged = acknowledged(life, end);
    if acknowledged.is_some_and(|held| held.event == grant.event) {
        return None;
    }
    if grant.member == end.member && is_after(grant, end, 0) {
        return Some(vec![end.event, grant.event]);
    }
    let is_later = acknowledged.is_some_and(|held| grant.count > held.count);
    let passed = !acknowledged.is_some_and(|held| holds(scene, life, held, end))
        && may_have_passed(scene, life, end.event, end.t);
    // Two clients may have two clocks. What the counts say needs none, unless the acknowledgement was late: it may have found
    // the record, delivered and ended since, below the start offset.
    let apart: Nanos = if (is_later || acknowledged.is_none()) && !passed {
        0
    } else {
        scene.settings.skew
    };
    if is_after(grant, end, apart) {
        return Some(vec![end.event, grant.event]);
    }
    let held = acknowledged?;
    let followed = grant.member != end.member
        && is_later
        && grant.t > held.sent
        && grant.t > end.sent.saturating_add(scene.settings.skew)
        && !passed
        && !scene.failed_over(grant.sent, held.t);
    // By another member after the one that was acknowledged: the acknowledgement came first, or was of somebody who held
    // nothing. Not so where it may have found the record below the start offset, or where the delivery may be of a leader
    // before, which counted by itself.
    followed.then(|| vec![held.event, end.event, grant.event])
}

/// Whether a request left after an acknowledgement was answered, by clocks that are so far apart. At one instant the lines tell.
fn is_after(grant: &Granted, end: &Acked, apart: Nanos) -> bool {
    (grant.sent, grant.event) > (end.t.saturating_add(apart), end.event)
}

/// Whether the member held the record for certain until its acknowledgement was answered: then the start offset had not passed it.
/// The lock runs by the server's clock, which the member's may be ahead of.
fn holds(scene: &Scene<'_>, life: &Life, held: &Granted, end: &Acked) -> bool {
    let given_back = life.acks.iter().any(|ack| {
        let is_other = ack.event != end.event && ack.kind != AckType::Renew;
        is_other && ack.member == end.member && ack.t >= held.sent && ack.sent <= end.t
    });
    let went = scene.gone_of(end.member, held.sent);
    end.t.saturating_add(scene.settings.skew) < held.sent.saturating_add(held.lock)
        && held.t <= end.sent
        && !given_back
        && went.is_none_or(|t| t > end.t)
        && !scene.failed_over(held.sent, end.t)
        && !scene.may_be_gone(life.first())
}

/// The delivery that was acknowledged: the member's last one before the answer.
fn acknowledged<'a>(life: &'a Life, end: &Acked) -> Option<&'a Granted> {
    let own = || {
        let of_member = life
            .grants
            .iter()
            .filter(|grant| grant.member == end.member);
        of_member.filter(|grant| grant.sent <= end.t)
    };
    let before = own().filter(|grant| !is_after(grant, end, 0));
    let count = |grant: &&Granted| grant.count;
    before.max_by_key(count).or_else(|| own().max_by_key(count))
}

/// Whether an acknowledgement may have come after a lock had run out at the delivery limit. The leader archives the record then,
/// whatever comes of the write, and passes it: the acknowledgement is confirmed and changes nothing, whoever sends it. A leader
/// after it may not know of that, and delivers the record again.
fn may_be_unwritten(scene: &Scene<'_>, life: &Life, end: &Acked, grant: &Granted) -> bool {
    let by_then = end.t.saturating_add(scene.settings.skew);
    let ran_out = life.grants.iter().any(|held| {
        scene.may_be_used_up(held.count, held.sent, by_then)
            && held.sent.saturating_add(held.lock) <= by_then
    });
    // Nobody has seen one of the deliveries: each of their members has gone.
    let produced = life.produced.map_or(Nanos::MIN, |(t, _)| t);
    let unseen = || scene.may_be_used_up(0, produced, by_then);
    let is_held = || acknowledged(life, end).is_some_and(|held| holds(scene, life, held, end));
    (ran_out || unseen()) && scene.failed_over(end.sent, grant.t) && !is_held()
}
