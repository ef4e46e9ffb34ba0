//! H5: start offset, leader epoch and state epoch never go back in any answer, and the start offset passes no unsettled record.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::unknown::may_have_ended_in;
use crate::era::Era;
use crate::event::{Nanos, View, What};
use crate::life::Life;
use crate::lock::Lock;
use crate::scene::Scene;
use crate::violation::{Check, Violation};

/// Finds a start offset that passed a record which was not settled.
pub fn check_passed(scene: &Scene<'_>, life: &Life, found: &mut Vec<Violation>) {
    let offset = life.first();
    for (number, era) in scene.eras.iter().enumerate() {
        if let Some((shown, below)) = delivered_below(scene, life, number, era) {
            let text = "a record was delivered below the start offset";
            found.push(scene.violation(Check::H5, life.span, text, vec![shown, below]));
            continue;
        }
        let Some((t, view, started)) = era.passed(offset) else {
            continue;
        };
        if scene.may_be_gone(offset) || life.is_gap(scene) {
            continue;
        }
        // What is delivered lies within the share partition, whatever its first answer showed.
        let is_delivered = life.grants.iter().any(|grant| grant.era == Some(number));
        if !started && !is_delivered {
            continue;
        }
        if let Some(last) = unsettled(scene, life, number, t) {
            let text = "the start offset passed a record that was not settled";
            found.push(scene.violation(Check::H5, life.span, text, vec![last, view]));
        }
    }
}

/// A delivery that left after the start offset was seen above the record, or set above it, and the event that shows this. A leader
/// that another one has succeeded may not know of it.
fn delivered_below(scene: &Scene<'_>, life: &Life, number: usize, era: &Era) -> Option<(u32, u32)> {
    let offset = life.first();
    let set = era.reset.filter(|&(_, start)| start > offset);
    let (t, shown) = match (set, era.passed(offset)) {
        (Some((event, _)), _) => (era.from, event),
        (None, passed) => passed.map(|(t, view, _)| (t, view))?,
    };
    let since = t.saturating_add(scene.settings.skew);
    let mut grants = life.grants.iter();
    let below = grants.find(|grant| {
        grant.era == Some(number) && grant.sent > since && !scene.failovers.within(t, grant.t)
    })?;
    Some((shown, below.event))
}

/// If the record cannot have been settled by `t`: the event after which it was not.
fn unsettled(scene: &Scene<'_>, life: &Life, era: usize, t: Nanos) -> Option<u32> {
    let by_then = t.saturating_add(scene.settings.skew);
    if may_have_ended_in(scene, life, era, by_then) || life.has_crossing(scene, era) {
        return None;
    }
    let last = life
        .grants
        .iter()
        .filter(|grant| grant.era == Some(era) && grant.sent <= by_then)
        .max_by_key(|grant| (grant.count, grant.t));
    let Some(last) = last else {
        // Somebody who went may have been given it unseen, and have settled nothing, unless they were as many as the limit.
        let produced = life
            .produced
            .filter(|&(since, _)| since <= t && !scene.may_be_used_up(0, since, by_then));
        let later = life.grants.iter().find(|grant| grant.era == Some(era));
        return later
            .map(|grant| grant.event)
            .or(produced.map(|(_, event)| event));
    };
    let at_limit = scene.may_be_used_up(last.count, last.sent, by_then);
    let is_held = last.t <= t && Lock::of(scene, life, last).least > by_then;
    (is_held || !at_limit).then_some(last.event)
}

/// A figure of an answer that never goes back.
struct Figure {
    text: &'static str,
    of: fn(&View) -> Option<i64>,
}

const START_OFFSET: Figure = Figure {
    text: "the start offset went back",
    of: |view| view.start_offset,
};
const LEADER_EPOCH: Figure = Figure {
    text: "the leader epoch went back",
    of: |view| view.leader_epoch,
};
const STATE_EPOCH: Figure = Figure {
    text: "the state epoch went back",
    of: |view| view.state_epoch,
};

/// Finds answers in which something went back.
pub fn check_views(scene: &Scene<'_>, found: &mut Vec<Violation>) {
    // A reset sets the start offset as it likes.
    let epochs = epochs(scene);
    let of_era = |t: Nanos, view: &View| era(scene, &epochs, t, view);
    let mut shown = figures(scene, &START_OFFSET, of_era);
    // A reset takes place before its answer: what is shown between may be above it already.
    let set = resets(scene, |epoch, start| (epoch, start)).map(|reset| Shown {
        sent: Nanos::MIN,
        ..reset
    });
    shown.extend(set);
    check_figure(scene, START_OFFSET.text, shown, found);
    let shown = figures(scene, &LEADER_EPOCH, |_, _| Some(0));
    check_figure(scene, LEADER_EPOCH.text, shown, found);
    let mut shown = figures(scene, &STATE_EPOCH, |_, _| Some(0));
    shown.extend(resets(scene, |epoch, _| (0, epoch)));
    check_figure(scene, STATE_EPOCH.text, shown, found);
}

fn figures(
    scene: &Scene<'_>,
    figure: &Figure,
    era: impl Fn(Nanos, &View) -> Option<i64>,
) -> Vec<Shown> {
    let views = scene.views().filter_map(|(event, t, view)| {
        Some(Shown {
            t,
            sent: view.sent,
            era: era(t, view)?,
            figure: (figure.of)(view)?,
            event,
        })
    });
    views.collect()
}

/// One figure of one answer.
#[derive(Clone, Copy)]
struct Shown {
    t: Nanos,
    sent: Nanos,
    /// Only figures of one era are compared.
    era: i64,
    figure: i64,
    event: u32,
}

/// The state epochs that answers show between two resets.
fn epochs(scene: &Scene<'_>) -> BTreeMap<usize, BTreeSet<i64>> {
    let mut epochs: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
    for (_, t, view) in scene.views() {
        if let (Some(epoch), Some(era)) = (view.state_epoch, scene.eras.of_view(t, view)) {
            epochs.entry(era).or_default().insert(epoch);
        }
    }
    epochs
}

/// The state epoch tells better than the time which state an answer is of. One that shows none is of the epoch that the others
/// show at its time, if they show one.
fn era(
    scene: &Scene<'_>,
    epochs: &BTreeMap<usize, BTreeSet<i64>>,
    t: Nanos,
    view: &View,
) -> Option<i64> {
    if view.state_epoch.is_some() {
        return view.state_epoch;
    }
    let number = scene.eras.of_view(t, view)?;
    let reset = scene.eras.get(number)?.state_epoch;
    let shown = epochs.get(&number).into_iter().flatten().copied();
    let mut known: BTreeSet<i64> = shown.chain(reset).collect();
    match known.pop_first() {
        Some(epoch) => known.is_empty().then_some(epoch),
        None => Some(-1 - number as i64),
    }
}

/// What resets show: of a state epoch and a start offset, the era and the figure.
fn resets<'a>(
    scene: &'a Scene<'_>,
    figure: fn(i64, i64) -> (i64, i64),
) -> impl Iterator<Item = Shown> + 'a {
    scene.events.resets.iter().filter_map(move |&event| {
        let reset = scene.event(event);
        match reset.what {
            What::Reset {
                state_epoch,
                start_offset,
            } => {
                let (era, figure) = figure(state_epoch, start_offset);
                Some(Shown {
                    t: reset.t,
                    sent: reset.t,
                    era,
                    figure,
                    event,
                })
            }
            _ => None,
        }
    })
}

/// An answer shows no less than any that came before its question left, by whichever clock.
fn check_figure(
    scene: &Scene<'_>,
    text: &'static str,
    shown: Vec<Shown>,
    found: &mut Vec<Violation>,
) {
    let mut answered = shown.clone();
    answered.sort_by_key(|shown| (shown.era, shown.t));
    let mut asked = shown;
    asked.sort_by_key(|shown| (shown.era, shown.sent));
    let mut answers = answered.into_iter().peekable();
    let mut highest: Option<Shown> = None;
    for view in asked {
        if highest.is_some_and(|highest| highest.era != view.era) {
            highest = None;
        }
        let since = view.sent.saturating_sub(scene.settings.skew);
        while let Some(answer) =
            answers.next_if(|answer| (answer.era, answer.t) < (view.era, since))
        {
            if answer.era == view.era
                && answer.event != view.event
                && highest.is_none_or(|highest| answer.figure > highest.figure)
            {
                highest = Some(answer);
            }
        }
        if let Some(before) = highest.filter(|before| before.figure > view.figure) {
            found.push(scene.violation(Check::H5, None, text, vec![before.event, view.event]));
        }
    }
}
