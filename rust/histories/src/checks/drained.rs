//! H3: after a drain every record that was produced and retained was delivered, and ended: accepted, rejected, or at the
//! delivery limit.

use crate::checks::unknown::{may_have_ended, may_have_ended_in};
use crate::era::Era;
use crate::event::Nanos;
use crate::life::{Granted, Life};
use crate::lock::Lock;
use crate::scene::Scene;
use crate::violation::{Check, Violation};

/// Finds records that have vanished.
pub fn check(scene: &Scene<'_>, life: &Life, found: &mut Vec<Violation>) {
    let mut at = 0;
    while let Some(&drain) = scene.drained.get(at) {
        let (t, event) = drain;
        // Beside a reset the drain may be of either state.
        let mut eras = scene
            .eras
            .of(t, t)
            .map(|era| vanished(scene, life, drain, era));
        let first = eras.next().flatten();
        if let Some((text, mut excerpt)) = first
            && eras.all(|found| found.is_some())
        {
            excerpt.push(event);
            found.push(scene.violation(Check::H3, life.span, text, excerpt));
            return;
        }
        let next = next_change(scene, life, drain);
        let later = scene.drained.partition_point(|&(t, _)| t < next);
        // Nothing is later than the end of time.
        at = later.max(at + 1);
    }
}

/// A record that has not vanished at `t` has not either before this time: it is not wanted before it is produced or delivered, it
/// stays ended or used up until it is delivered again, and a reset changes all.
fn next_change(scene: &Scene<'_>, life: &Life, drain: (Nanos, u32)) -> Nanos {
    let (t, _) = drain;
    let skew = scene.settings.skew;
    let seen = |grant: &Granted| {
        let times = [grant.sent, grant.t].into_iter();
        times.flat_map(move |t| [t.saturating_sub(skew), t])
    };
    // At one instant the first line comes first.
    let produced = life.produced.filter(|&produced| produced > drain);
    // From then on a drain is of a later state for certain. A time belongs to the era that ends with it.
    let era = scene.eras.get(*scene.eras.of(t, t).start());
    let reset = era.map(|era| era.to.saturating_add(skew).saturating_add(1));
    let times = life.grants.iter().flat_map(seen);
    times
        .chain(reset)
        .filter(|&other| other > t)
        .chain(produced.map(|(t, _)| t))
        .fold(Nanos::MAX, Nanos::min)
}

fn vanished(
    scene: &Scene<'_>,
    life: &Life,
    drain: (Nanos, u32),
    era: usize,
) -> Option<(&'static str, Vec<u32>)> {
    let (offset, (at, _)) = (life.first(), drain);
    if scene.may_be_gone(offset)
        || life.is_gap(scene)
        || !is_wanted(scene, life, drain, era)
        || life.has_crossing(scene, era)
    {
        return None;
    }
    // A member whose clock is ahead may have been given the record before.
    let by_then = at.saturating_add(scene.settings.skew);
    let of_era = life.grants.iter().filter(|grant| grant.era == Some(era));
    let grants = of_era.filter(|grant| grant.sent <= by_then);
    let Some(last) = grants.max_by_key(|grant| (grant.count, grant.t)) else {
        let unseen =
            |t| scene.may_be_used_up(0, t, at) || may_have_ended_unseen(scene, life, t, at);
        if life.produced.is_some_and(|(t, _)| unseen(t)) {
            return None;
        }
        let produced = life.produced.map(|(_, event)| event);
        return Some((
            "a record was never delivered",
            produced.into_iter().collect(),
        ));
    };
    if may_have_ended_in(scene, life, era, by_then) {
        return None;
    }
    if scene.may_be_used_up(last.count, last.sent, at) {
        return None;
    }
    // What ended it may have come before the answer that gave it.
    let held_until = Lock::of(scene, life, last).least;
    if held_until > by_then && (last.t <= by_then || held_until > last.t) {
        return Some(("a record is still locked", vec![last.event]));
    }
    let text = "a record came back and was not delivered again, though it has deliveries left";
    let given_back = life
        .acks
        .iter()
        .filter(|ack| ack.member == last.member && ack.sent >= last.t && ack.sent <= at)
        .map(|ack| ack.event)
        .next_back();
    Some((text, given_back.into_iter().chain([last.event]).collect()))
}

/// Whether a member that went, and so may have been given the record unseen, came back and ended it.
fn may_have_ended_unseen(scene: &Scene<'_>, life: &Life, from: Nanos, at: Nanos) -> bool {
    let by_then = at.saturating_add(scene.settings.skew);
    life.acks.iter().any(|ack| {
        let gone = scene.gone_of(ack.member, from.saturating_sub(scene.settings.skew));
        gone.is_some_and(|gone| gone <= ack.t) && may_have_ended(scene, life, ack, by_then)
    })
}

/// Whether the share partition has to deliver the record: it was there before the drain, and not before the share partition
/// started.
fn is_wanted(scene: &Scene<'_>, life: &Life, drain: (Nanos, u32), number: usize) -> bool {
    let offset = life.first();
    let Some(era) = scene.eras.get(number) else {
        return false;
    };
    let mut grants = life.grants.iter();
    let was_granted =
        grants.any(|grant| grant.era == Some(number) && (grant.t, grant.event) <= drain);
    let was_produced = life.produced.is_some_and(|produced| produced <= drain);
    was_granted || (was_produced && !starts_after(life, era, offset))
}

/// Whether the share partition started after the record, as `share.auto.offset.reset=latest` has it: a reset says so, or the
/// first view, before any delivery.
pub fn starts_after(life: &Life, era: &Era, offset: i64) -> bool {
    if let Some((_, start)) = era.reset {
        return offset < start;
    }
    let first = era.rises.first().filter(|&(start, _)| start > offset);
    let Some((_, (first_view, _))) = first else {
        return false;
    };
    let delivered_before = era.lows.first().is_some_and(|&(t, _)| t <= first_view);
    let produced_before = life.produced.is_some_and(|(t, _)| t <= first_view);
    !delivered_before && produced_before
}
