//! H8: while members poll and nothing is locked, an available record is delivered within a bound.

use crate::checks::drained::starts_after;
use crate::checks::idle::Idle;
use crate::era::Era;
use crate::event::{AckType, Nanos, Outcome, What};
use crate::intervals::Intervals;
use crate::life::{Acked, Granted, Life};
use crate::lock::Lock;
use crate::scene::{LINGERING, Scene};
use crate::violation::{Check, Violation};

/// How many deliveries are looked at for one that passed a record over.
const PASSED_OVER: usize = 64;

/// A time in which a record waits for a delivery.
struct Wait<'a> {
    from: Nanos,
    to: Nanos,
    /// The event that it begins with.
    since: u32,
    /// The deliveries of the state before it, by the last count.
    count: i64,
    /// The delivery that ends it.
    next: Option<&'a Granted>,
}

impl Wait<'_> {
    /// Whether the count of the next delivery tells that nobody had the record meanwhile.
    fn tells_of_nobody(&self, scene: &Scene<'_>) -> bool {
        let next = self.next.filter(|next| next.era.is_some());
        next.is_some_and(|next| next.count == self.count.saturating_add(1))
            && !scene.failovers.within(self.from, self.to)
    }
}

/// Finds records that waited too long.
pub fn check(scene: &Scene<'_>, life: &Life, idle: &[Idle], found: &mut Vec<Violation>) {
    if life.is_gap(scene) {
        return;
    }
    let nobody = Intervals::default();
    for wait in waits(scene, life) {
        let held = if wait.tells_of_nobody(scene) {
            &nobody
        } else {
            &scene.held_unseen
        };
        for (from, to) in held.outside(wait.from, wait.to, scene.settings.within) {
            if let Some((text, shown)) = too_long(scene, life, idle, from, to) {
                let excerpt = [wait.since].into_iter().chain(shown).collect();
                found.push(scene.violation(Check::H8, life.span, text, excerpt));
                return;
            }
        }
    }
}

/// Why a record should have been delivered within a time in which nobody had it, and the event that shows it.
fn too_long(
    scene: &Scene<'_>,
    life: &Life,
    idle: &[Idle],
    from: Nanos,
    to: Nanos,
) -> Option<(&'static str, Option<u32>)> {
    if let Some(other) = passed_over(scene, life, from, to) {
        let text = "records after an available one were delivered, and it was not, for longer than the bound";
        return Some((text, Some(other)));
    }
    let at = idle.partition_point(|idle| idle.to <= from);
    let mut idle = idle.iter().skip(at).take_while(|idle| idle.from < to);
    let found = idle
        .find(|idle| idle.to.min(to).saturating_sub(idle.from.max(from)) > scene.settings.within)?;
    Some((
        "an available record was not delivered within the bound",
        found.until,
    ))
}

/// A delivery of later records that left when the record had waited for longer than the bound: a server delivers the first records
/// that are available.
fn passed_over(scene: &Scene<'_>, life: &Life, from: Nanos, to: Nanos) -> Option<u32> {
    let skew = scene.settings.skew;
    let since = from
        .saturating_add(scene.settings.within)
        .saturating_add(skew);
    if scene.failovers.within(from, to) {
        return None;
    }
    let events = &scene.events.grants;
    let at = events.partition_point(|&event| scene.event(event).t <= since);
    let after = events.iter().skip(at).take(PASSED_OVER).copied();
    after
        .take_while(|&event| scene.event(event).t.saturating_add(skew) < to)
        .find(|&event| match scene.event(event).what {
            What::Grant(grant) => grant.sent > since && grant.span.first > life.first(),
            _ => false,
        })
}

/// The times in which the record waits for a delivery. Each ends with the next delivery or reset, or once the log start has passed the
/// record.
fn waits<'a>(scene: &Scene<'_>, life: &'a Life) -> Vec<Wait<'a>> {
    // The log start may have moved before its move was answered.
    let passed = scene.log_start.passed(life.first());
    let passed = passed.map_or(scene.end, |t| t.saturating_sub(scene.lingering));
    let mut waits = Vec::new();
    let mut highest = (0, i64::MIN);
    for (at, grant) in life.grants.iter().enumerate() {
        // The counts begin anew with each era. If the delivery may be of two, a reset ends its wait.
        let era = *scene.eras.of(grant.sent, grant.t).start();
        let reset = scene.eras.get(era).map_or(Nanos::MAX, |era| era.to);
        let next = life.grants.get(at + 1);
        let to = life
            .next_asked(at + 1)
            .unwrap_or(passed)
            .min(reset)
            .min(passed);
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
            let (from, since) = given_back(scene, life, grant, &lock, to);
            waits.push(Wait {
                from,
                to,
                since,
                count: grant.count,
                next,
            });
        }
    }
    let eras = scene.eras.iter().enumerate();
    waits.extend(eras.filter_map(|(number, era)| first_of_era(scene, life, number, era, passed)));
    waits
}

/// When a delivery was over at the latest, and the event that shows it.
fn given_back(
    scene: &Scene<'_>,
    life: &Life,
    grant: &Granted,
    lock: &Lock,
    to: Nanos,
) -> (Nanos, u32) {
    let acks = life
        .acks_taken(scene, grant.member, grant.t, to)
        .filter(|ack| ack.sent >= grant.t);
    // A lock may end late: it holds as long as its member's acknowledgements are taken.
    let (late, in_time): (Vec<&Acked>, Vec<&Acked>) = acks.partition(|ack| ack.t > lock.most);
    let ends = |ack: &&Acked| ack.kind != AckType::Renew && ack.outcome == Outcome::Ok;
    let late = late
        .into_iter()
        .filter(|ack| ack.outcome != Outcome::Refused)
        .max_by_key(|ack| ack.t);
    match late.filter(|_| !in_time.iter().any(ends)) {
        Some(ack) => (ack.t, ack.event),
        None => {
            let last = in_time.iter().map(|ack| ack.event).max();
            (lock.most, last.unwrap_or(grant.event))
        }
    }
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
fn first_of_era<'a>(
    scene: &Scene<'_>,
    life: &'a Life,
    number: usize,
    era: &Era,
    passed: Nanos,
) -> Option<Wait<'a>> {
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
    let delivered = life.next_asked(next).unwrap_or(Nanos::MAX);
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
    (!unsure).then_some(Wait {
        from,
        to,
        since,
        count: 0,
        next: life.grants.get(next),
    })
}
