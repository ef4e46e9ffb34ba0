//! H8: while members poll and nothing is locked, an available record is delivered within a bound.

use crate::checks::drained::starts_after;
use crate::checks::idle::Idle;
use crate::era::Era;
use crate::event::{Nanos, Outcome, What};
use crate::life::{Acked, Life};
use crate::lock::Lock;
use crate::scene::{LINGERING, Scene};
use crate::violation::{Check, Violation};

/// How many deliveries are looked at for one that passed a record over.
const PASSED_OVER: usize = 64;

/// Finds records that waited too long.
pub fn check(scene: &Scene<'_>, life: &Life, idle: &[Idle], found: &mut Vec<Violation>) {
    for (from, to, since) in waits(scene, life) {
        if to.saturating_sub(from) <= scene.settings.within {
            continue;
        }
        if let Some(other) = passed_over(scene, life, from, to) {
            let text = "records after an available one were delivered, and it was not, for longer than the bound";
            found.push(scene.violation(Check::H8, life.span, text, vec![since, other]));
            return;
        }
        let at = idle.partition_point(|idle| idle.to <= from);
        for idle in idle.iter().skip(at).take_while(|idle| idle.from < to) {
            let both = idle.to.min(to).saturating_sub(idle.from.max(from));
            if both > scene.settings.within {
                let text = "an available record was not delivered within the bound";
                let excerpt = [since].into_iter().chain(idle.until).collect();
                found.push(scene.violation(Check::H8, life.span, text, excerpt));
                return;
            }
        }
    }
}

/// A delivery of later records that left when the record had waited for longer than the bound: a server delivers the first records
/// that are available. Whoever went may have had the record, unseen.
fn passed_over(scene: &Scene<'_>, life: &Life, from: Nanos, to: Nanos) -> Option<u32> {
    let skew = scene.settings.skew;
    let since = from
        .saturating_add(scene.settings.within)
        .saturating_add(skew);
    let delivered = life.grants.iter().filter(|grant| grant.t == to);
    let until = delivered.map(|grant| grant.sent).min().unwrap_or(to);
    if scene.gone_within(from, until) > 0 || scene.failovers.within(from, until) {
        return None;
    }
    let events = &scene.events.grants;
    let at = events.partition_point(|&event| scene.event(event).t <= since);
    let after = events.iter().skip(at).take(PASSED_OVER).copied();
    after
        .take_while(|&event| scene.event(event).t.saturating_add(skew) < until)
        .find(|&event| match scene.event(event).what {
            What::Grant(grant) => grant.sent > since && grant.span.first > life.first(),
            _ => false,
        })
}

/// The times in which the record waits for a delivery, and the event that each begins with. Each ends with the next delivery or
/// reset, or once the log start has passed the record.
fn waits(scene: &Scene<'_>, life: &Life) -> Vec<(Nanos, Nanos, u32)> {
    let offset = life.first();
    let passed = scene.log_start.passed(offset).unwrap_or(scene.end);
    let mut waits = Vec::new();
    let mut highest = (0, i64::MIN);
    for (at, grant) in life.grants.iter().enumerate() {
        // The counts begin anew with each era. If the delivery may be of two, a reset ends its wait.
        let era = *scene.eras.of(grant.sent, grant.t).start();
        let reset = scene.eras.get(era).map_or(Nanos::MAX, |era| era.to);
        let next = life.grants.get(at + 1).map_or(passed, |next| next.t);
        let to = next.min(reset).min(passed);
        // An answer that came late is not of the last delivery.
        let is_last = (era, grant.count) > highest;
        highest = highest.max((era, grant.count));
        let ended = || {
            let mut ends = life.ends.iter();
            ends.any(|ack| {
                let may_meet = ack.member == grant.member && ack.outcome == Outcome::Unknown;
                (may_meet || lingers(ack) >= grant.sent) && ack.sent <= to
            })
        };
        if is_last && !scene.may_be_used_up(grant.count, grant.sent, to) && !ended() {
            let lock = Lock::of(scene, life, grant);
            let back = life
                .acks_taken(scene, grant.member, grant.t, lock.most)
                .filter(|ack| ack.sent >= grant.t && ack.t <= lock.most);
            let since = back.map(|ack| ack.event).max();
            waits.push((lock.most, to, since.unwrap_or(grant.event)));
        }
    }
    let eras = scene.eras.iter().enumerate();
    waits.extend(eras.filter_map(|(number, era)| first_of_era(scene, life, number, era, passed)));
    waits
}

/// Until when an acknowledgement may end a record that its member was given unseen: somebody who went takes such a record for as long.
fn lingers(ack: &Acked) -> Nanos {
    match ack.outcome {
        Outcome::Unknown => ack.t.saturating_add(LINGERING),
        Outcome::Ok | Outcome::Refused => ack.t,
    }
}

/// The wait before the first delivery of an era: a reset begins it, or the production after that. What was there, or is made, and is
/// left in, is available.
fn first_of_era(
    scene: &Scene<'_>,
    life: &Life,
    number: usize,
    era: &Era,
    passed: Nanos,
) -> Option<(Nanos, Nanos, u32)> {
    let offset = life.first();
    let next = life.grants.partition_point(|grant| grant.t <= era.from);
    let (from, since) = match (life.produced, era.reset) {
        // Where it starts is told later.
        (_, Some((_, ..0))) => return None,
        (Some((t, event)), _) if t > era.from => (t, event),
        // Nobody says that the record was there.
        (None, _) if next == 0 => return None,
        (_, reset) => (era.from, reset?.0),
    };
    let delivered = life.grants.get(next).map_or(Nanos::MAX, |grant| grant.t);
    let to = delivered.min(era.to).min(passed);
    // Where resets are many, they follow each other soon: the rest is asked only where it could tell.
    if to.saturating_sub(from) <= scene.settings.within || starts_after(life, era, offset) {
        return None;
    }
    let skew = scene.settings.skew;
    let has_ended = |(t, _, _): (Nanos, u32, bool)| t <= delivered.saturating_add(skew);
    let earliest = from.saturating_sub(skew);
    let mut ends = life.ends.iter();
    let may_have_ended = era.passed(offset).is_some_and(has_ended)
        || ends.any(|ack| lingers(ack) >= earliest && ack.sent <= to);
    let unsure =
        may_have_ended || life.has_crossing(scene, number) || scene.may_be_used_up(0, from, to);
    (!unsure).then_some((from, to, since))
}
