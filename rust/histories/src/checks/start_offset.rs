//! H5: start offset, leader epoch and state epoch never go back in any answer, and the start offset passes no outstanding record.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::unknown::may_have_ended_in;
use crate::event::{Nanos, View, What};
use crate::lock::Lock;
use crate::record_events::{RecordEvents, may_be_used_up};
use crate::reset_period::ResetPeriod;
use crate::share_partition::SharePartition;
use crate::violation::{Check, Violation};

/// Finds a start offset that passed a record which was outstanding.
pub fn check_passed(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    found: &mut Vec<Violation>,
) {
    let offset = record.first();
    for (number, period) in partition.periods.iter().enumerate() {
        if let Some((shown, below)) = delivered_below(partition, record, number, period) {
            let text = "a record was delivered below the start offset";
            found.push(partition.violation(Check::H5, record.span, text, vec![shown, below]));
            continue;
        }
        let Some((t, view, started)) = period.passed(offset) else {
            continue;
        };
        if partition.may_be_gone(offset) || record.is_gap(partition) {
            continue;
        }
        // What is delivered lies within the share partition, whatever its first answer showed.
        let is_delivered = record
            .grants
            .iter()
            .any(|grant| grant.period == Some(number));
        if !started && !is_delivered {
            continue;
        }
        if let Some(last) = outstanding(partition, record, number, t) {
            let text = "the start offset passed an outstanding record";
            found.push(partition.violation(Check::H5, record.span, text, vec![last, view]));
        }
    }
}

/// A delivery that left after the start offset was seen above the record, or set above it, and the event that shows this. A leader
/// before the one that showed it may not know of it. Nor may one after it, if no delivery was left: such a record is passed, whatever
/// comes of the write.
fn delivered_below(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    number: usize,
    period: &ResetPeriod,
) -> Option<(u32, u32)> {
    let offset = record.first();
    let set = period.reset.filter(|&(_, start)| start > offset);
    let (t, shown) = match (set, period.passed(offset)) {
        (Some((event, _)), _) => (period.from, event),
        (None, passed) => passed.map(|(t, view, _)| (t, view))?,
    };
    let since = t.saturating_add(partition.settings.skew);
    let may_be_unwritten = set.is_none() && may_be_used_up(partition, record, since);
    let mut grants = record.grants.iter();
    let below = grants.find(|grant| {
        let may_be_unknown = partition.failovers.within(grant.sent, t)
            || may_be_unwritten && partition.failovers.within(t, grant.t);
        grant.period == Some(number) && grant.sent > since && !may_be_unknown
    })?;
    Some((shown, below.event))
}

/// Event after which the record was outstanding, if it cannot have been done by `t`.
fn outstanding(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    period: usize,
    t: Nanos,
) -> Option<u32> {
    let by_then = t.saturating_add(partition.settings.skew);
    if may_have_ended_in(partition, record, period, by_then)
        || record.has_crossing(partition, period)
    {
        return None;
    }
    let last = record
        .grants
        .iter()
        .filter(|grant| grant.period == Some(period) && grant.sent <= by_then)
        .max_by_key(|grant| (grant.count, grant.t));
    let Some(last) = last else {
        // Somebody who went may have been given it unseen, and have acknowledged nothing, unless they were as many as the limit.
        let produced = record
            .produced
            .filter(|&(since, _)| since <= t && !partition.may_be_used_up(0, since, by_then));
        let later = record
            .grants
            .iter()
            .find(|grant| grant.period == Some(period));
        return later
            .map(|grant| grant.event)
            .or(produced.map(|(_, event)| event));
    };
    let at_limit = partition.may_be_used_up(last.count, last.sent, by_then);
    let is_held = last.t <= t && Lock::of(partition, record, last).least > by_then;
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
pub fn check_views(partition: &SharePartition<'_>, found: &mut Vec<Violation>) {
    // A reset sets the start offset as it likes.
    let epochs = epochs(partition);
    let of_era = |t: Nanos, view: &View| period(partition, &epochs, t, view);
    let mut shown = figures(partition, &START_OFFSET, of_era);
    // A reset takes place before its answer: what is shown between may be above it already.
    let set = resets(partition, |epoch, start| (epoch, start)).map(|reset| Shown {
        sent: Nanos::MIN,
        ..reset
    });
    shown.extend(set);
    check_figure(partition, START_OFFSET.text, shown, found);
    let shown = figures(partition, &LEADER_EPOCH, |_, _| Some(0));
    check_figure(partition, LEADER_EPOCH.text, shown, found);
    let mut shown = figures(partition, &STATE_EPOCH, |_, _| Some(0));
    shown.extend(resets(partition, |epoch, _| (0, epoch)));
    check_figure(partition, STATE_EPOCH.text, shown, found);
}

fn figures(
    partition: &SharePartition<'_>,
    figure: &Figure,
    period: impl Fn(Nanos, &View) -> Option<i64>,
) -> Vec<Shown> {
    let views = partition.views().filter_map(|(event, t, view)| {
        Some(Shown {
            t,
            sent: view.sent,
            period: period(t, view)?,
            figure: (figure.of)(view)?,
            event,
        })
    });
    views.collect()
}

/// A figure of an answer.
#[derive(Clone, Copy)]
struct Shown {
    t: Nanos,
    sent: Nanos,
    /// Period of the figure: only figures of one period are compared.
    period: i64,
    figure: i64,
    event: u32,
}

/// The state epochs that answers show between two resets.
fn epochs(partition: &SharePartition<'_>) -> BTreeMap<usize, BTreeSet<i64>> {
    let mut epochs: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
    for (_, t, view) in partition.views() {
        if let (Some(epoch), Some(period)) = (view.state_epoch, partition.periods.of_view(t, view))
        {
            epochs.entry(period).or_default().insert(epoch);
        }
    }
    epochs
}

/// The state epoch tells better than the time which state an answer is of. One that shows none is of the epoch that the others
/// show at its time, if they show one.
fn period(
    partition: &SharePartition<'_>,
    epochs: &BTreeMap<usize, BTreeSet<i64>>,
    t: Nanos,
    view: &View,
) -> Option<i64> {
    if view.state_epoch.is_some() {
        return view.state_epoch;
    }
    let number = partition.periods.of_view(t, view)?;
    let reset = partition.periods.get(number)?.state_epoch;
    let shown = epochs.get(&number).into_iter().flatten().copied();
    let mut known: BTreeSet<i64> = shown.chain(reset).collect();
    match known.pop_first() {
        Some(epoch) => known.is_empty().then_some(epoch),
        None => Some(-1 - number as i64),
    }
}

/// Figures that resets show: `figure` makes the period and the figure from a state epoch and a start offset.
fn resets<'a>(
    partition: &'a SharePartition<'_>,
    figure: fn(i64, i64) -> (i64, i64),
) -> impl Iterator<Item = Shown> + 'a {
    partition.events.resets.iter().filter_map(move |&event| {
        let reset = partition.event(event);
        match reset.what {
            What::Reset {
                state_epoch,
                start_offset,
            } => {
                let (period, figure) = figure(state_epoch, start_offset);
                Some(Shown {
                    t: reset.t,
                    sent: reset.t,
                    period,
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
    partition: &SharePartition<'_>,
    text: &'static str,
    shown: Vec<Shown>,
    found: &mut Vec<Violation>,
) {
    let mut answered = shown.clone();
    answered.sort_by_key(|shown| (shown.period, shown.t));
    let mut asked = shown;
    asked.sort_by_key(|shown| (shown.period, shown.sent));
    let mut answers = answered.into_iter().peekable();
    let mut highest: Option<Shown> = None;
    for view in asked {
        if highest.is_some_and(|highest| highest.period != view.period) {
            highest = None;
        }
        let since = view.sent.saturating_sub(partition.settings.skew);
        while let Some(answer) =
            answers.next_if(|answer| (answer.period, answer.t) < (view.period, since))
        {
            if answer.period == view.period
                && answer.event != view.event
                && highest.is_none_or(|highest| answer.figure > highest.figure)
            {
                highest = Some(answer);
            }
        }
        if let Some(before) = highest.filter(|before| before.figure > view.figure) {
            found.push(partition.violation(Check::H5, None, text, vec![before.event, view.event]));
        }
    }
}
