//! H4: the delivery count of a record rises by exactly one a grant, and never passes the limit.

use crate::event::Nanos;
use crate::life::{Granted, Life};
use crate::scene::Scene;
use crate::violation::{Check, Violation};

/// Finds counts that jump, repeat or go back, and those beyond their limits.
pub fn check(scene: &Scene<'_>, life: &Life, found: &mut Vec<Violation>) {
    if let Some(grant) = life
        .grants
        .iter()
        .find(|grant| grant.count > scene.settings.delivery_limit)
    {
        let text = "a delivery count is above the limit";
        found.push(scene.violation(Check::H4, life.span, text, vec![grant.event]));
    }
    if let Some(grant) = life.grants.iter().find(|grant| grant.count < 1) {
        let text = "a delivery count is below 1";
        found.push(scene.violation(Check::H4, life.span, text, vec![grant.event]));
    }
    let sure = life.grants.iter().filter(|grant| grant.era.is_some());
    let mut grants: Vec<&Granted> = sure.collect();
    grants.sort_by_key(|grant| grant.era);
    for grants in grants.chunk_by_mut(|before, later| before.era == later.era) {
        let Some(era) = grants.first().and_then(|grant| grant.era) else {
            continue;
        };
        into_order(scene, grants);
        first(scene, life, era, grants, found);
        for pair in grants.windows(2) {
            if let [before, later] = *pair {
                follows(scene, life, era, before, later, found);
            }
        }
    }
}

/// Puts grants that were answered out of order into the order of their counts, as far as their times allow it.
fn into_order(scene: &Scene<'_>, grants: &mut [&Granted]) {
    for end in 1..grants.len() {
        for at in (1..=end).rev() {
            let (before, later) = match grants.get(at - 1..=at) {
                Some([before, later]) => (*before, *later),
                _ => break,
            };
            let overlap = later.sent <= before.t.saturating_add(scene.settings.skew);
            if later.count >= before.count || !overlap {
                break;
            }
            grants.swap(at - 1, at);
        }
    }
}

/// A record that was made within the history begins with a count of 1. Others before it may be unseen.
fn first(
    scene: &Scene<'_>,
    life: &Life,
    era: usize,
    grants: &[&Granted],
    found: &mut Vec<Violation>,
) {
    let Some(grant) = grants.first() else {
        return;
    };
    let reset = scene
        .eras
        .get(era)
        .and_then(|era| Some((era.from, era.reset?.0)));
    let Some((since, event)) = reset.or(life.produced) else {
        return;
    };
    // The first one may be one whose answer crossed the reset.
    if reset.is_some() && grant.t < since || life.has_crossing(scene, era) {
        return;
    }
    // What was produced may be delivered before the producer knows it.
    let since = since.min(grant.sent);
    // Among those that may have come before it there may be one of another leader, which no order of the counts puts first.
    let by_then = grant.t.saturating_add(scene.settings.skew);
    let before = grants.iter().filter(|other| other.sent <= by_then);
    let lowest = before.map(|other| other.count).fold(grant.count, i64::min);
    let unseen = lowest.saturating_sub(1);
    if unseen > unseen_within(scene, since, grant.t) {
        let text = "the first delivery of a record has another count than 1";
        let excerpt = vec![event, grant.event];
        found.push(scene.violation(Check::H4, life.span, text, excerpt));
    }
}

fn follows(
    scene: &Scene<'_>,
    life: &Life,
    era: usize,
    before: &Granted,
    later: &Granted,
    found: &mut Vec<Violation>,
) {
    let (from, to) = (before.sent.min(later.sent), before.t.max(later.t));
    // What was not written when another leader took over is counted anew, and answers of both may cross.
    if scene.failovers.within(from, to) {
        return;
    }
    let unseen = later.count.saturating_sub(before.count).saturating_sub(1);
    // What may have been unseen is counted only where something was.
    let text = if unseen < 0 {
        "a delivery count did not rise with a delivery"
    } else if unseen > 0
        && unseen
            > unseen_within(scene, from, to) + life.crossing_between(scene, era, before, later)
    {
        "a delivery count rose by more than one"
    } else {
        return;
    };
    let excerpt = vec![before.event, later.event];
    found.push(scene.violation(Check::H4, life.span, text, excerpt));
}

/// How many deliveries nobody may have seen within a time: each member that went may have taken one with it, and its answer may still
/// have been on its way when it went, a little later.
fn unseen_within(scene: &Scene<'_>, from: Nanos, to: Nanos) -> i64 {
    scene.gone_within(from, to.saturating_add(scene.lingering))
}
