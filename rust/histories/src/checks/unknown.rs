//! H6: an acknowledgement of unknown outcome happened once or not at all, and later reads agree.
//!
//! All ranges of an acknowledgement happen together. So it is wrong if one record shows that it happened, and one that it did
//! not. Two leaders may show either: one gives up a write, takes its records back and delivers them, and the next one finds
//! that the write has arrived.

use std::collections::BTreeMap;

use crate::event::{Nanos, Outcome, Span, What};
use crate::life::{Acked, Granted, Life, may_have_passed};
use crate::scene::Scene;
use crate::violation::{Check, Violation};

/// What the records show of each acknowledgement of unknown outcome, by its event.
#[derive(Debug, Default)]
pub struct Shown {
    acks: BTreeMap<u32, Evidence>,
}

/// The records that show it best. The earlier it is seen that it happened, and the later a delivery left that denies it, the
/// fewer failovers lie between them.
#[derive(Debug, Default)]
struct Evidence {
    /// When it was seen, and the event.
    happened: Option<(Nanos, u32)>,
    /// The delivery, and its record.
    did_not: Option<(Granted, Span)>,
}

impl Shown {
    /// Takes in what a record shows.
    pub fn note(&mut self, scene: &Scene<'_>, life: &Life) {
        let Some(span) = life.span else {
            return;
        };
        for ack in &life.ends {
            let held = life.acknowledged(ack);
            let Some(held) = held.filter(|_| ack.outcome == Outcome::Unknown) else {
                continue;
            };
            // Below the start offset it changes nothing, and may have happened to the other records.
            let denies = !may_have_passed(scene, life, ack.event, ack.t);
            let again = life
                .denied_by(ack)
                .or_else(|| after_passed(scene, life, ack, held))
                .filter(|_| denies);
            let ended = ended(scene, life, ack, held);
            let evidence = self.acks.entry(ack.event).or_default();
            if let Some(grant) = again
                && evidence
                    .did_not
                    .is_none_or(|(known, _)| known.sent < grant.sent)
            {
                evidence.did_not = Some((*grant, span));
            }
            evidence.happened = evidence.happened.into_iter().chain(ended).min();
        }
    }

    /// Finds those that happened and did not.
    pub fn check(self, scene: &Scene<'_>, found: &mut Vec<Violation>) {
        for (ack, evidence) in self.acks {
            if let (Some((seen, happened)), Some((grant, span))) =
                (evidence.happened, evidence.did_not)
                && !scene.failovers.within(grant.sent, seen)
                && !may_meet_unseen(scene, ack, grant.sent, seen)
            {
                let text =
                    "one answer shows that an acknowledgement happened, another that it did not";
                let excerpt = vec![ack, happened, grant.event];
                found.push(scene.violation(Check::H6, Some(span), text, excerpt));
            }
        }
    }
}

/// Whether an acknowledgement that is on its way may meet a delivery to its member that nobody saw.
fn may_meet_unseen(scene: &Scene<'_>, ack: u32, from: Nanos, to: Nanos) -> bool {
    match scene.event(ack).what {
        What::Ack(ack) => scene.may_be_given_unseen(ack.member, from, to),
        _ => false,
    }
}

/// Whether the record may have ended by `until` with an acknowledgement: it was confirmed, or its outcome is unknown and no
/// delivery until then shows that it did not happen: one that is denied by a leader may be found by the next.
pub fn may_have_ended(scene: &Scene<'_>, life: &Life, ack: &Acked, until: Nanos) -> bool {
    let refuted = || {
        life.denied_by(ack).is_some_and(|grant| {
            grant.t <= until
                && !scene.failovers.within(grant.sent, until)
                && !scene.may_be_given_unseen(ack.member, grant.sent, until)
        })
    };
    ack.may_end() && ack.sent <= until && (ack.outcome == Outcome::Ok || !refuted())
}

/// Whether the record may have ended in an era by `until`, with any acknowledgement.
pub fn may_have_ended_in(scene: &Scene<'_>, life: &Life, era: usize, until: Nanos) -> bool {
    let mut ends = life.ends.iter();
    ends.any(|ack| may_end_in(scene, life, ack, era, until))
}

/// Whether it may have ended so with this one. One that left before the era may meet a delivery to its member within it.
fn may_end_in(scene: &Scene<'_>, life: &Life, ack: &Acked, era: usize, until: Nanos) -> bool {
    if scene.eras.at(ack.sent) == era {
        return may_have_ended(scene, life, ack, until);
    }
    let may_meet = || {
        let mut grants = life.grants_of(ack.member).iter();
        let from = scene.eras.get(era).map_or(Nanos::MAX, |era| era.from);
        let is_within = |grant: &Granted| scene.eras.of(grant.sent, grant.t).contains(&era);
        grants.any(is_within) || scene.may_be_given_unseen(ack.member, from, until)
    };
    let is_late = ack.outcome == Outcome::Unknown && scene.eras.at(ack.sent) < era;
    let may_be_within = scene.eras.of(ack.sent, ack.t).contains(&era);
    ack.sent <= until && (may_be_within || is_late && may_meet())
}

/// The delivery of a record that the start offset had passed: if the acknowledgement explains that, the delivery denies it.
fn after_passed<'a>(
    scene: &Scene<'_>,
    life: &'a Life,
    ack: &Acked,
    held: &Granted,
) -> Option<&'a Granted> {
    let era = scene.eras.at(ack.sent);
    let (passed, ..) = scene.eras.get(era)?.passed(life.first())?;
    let since = passed.saturating_add(scene.settings.skew);
    let from = life.grants.partition_point(|grant| grant.t < since);
    let mut later = life.grants.iter().skip(from);
    later.find(|grant| grant.sent >= since && grant.count > held.count && grant.era == Some(era))
}

/// The event that shows that the acknowledgement happened, and its time: the start offset passed the record, or a drain left
/// it, and nothing else explains that.
fn ended(scene: &Scene<'_>, life: &Life, ack: &Acked, held: &Granted) -> Option<(Nanos, u32)> {
    let offset = life.first();
    let number = scene.eras.at(ack.sent);
    let era = scene.eras.get(number)?;
    // A reset that left the record out says nothing of what became of it.
    if era.reset.is_some_and(|(_, start)| start > offset) {
        return None;
    }
    let view = era.passed(offset).map(|(t, view, _)| (t, view));
    let next = scene.drained.partition_point(|&(t, _)| t < ack.sent);
    let drain = scene.drained.get(next).copied();
    let drain = drain.filter(|&(t, _)| scene.eras.only(t, t) == Some(number));
    let (t, event) = [view, drain].into_iter().flatten().min()?;
    let by_then = t.saturating_add(scene.settings.skew);
    let ended_by_another = || {
        let mut others = life.ends.iter().filter(|other| other.event != ack.event);
        others.any(|other| may_end_in(scene, life, other, number, by_then))
    };
    let used_up = || {
        let until = life.grants.iter().filter(|grant| grant.sent <= by_then);
        let highest = until.map(|grant| grant.count).max();
        highest.is_some_and(|count| scene.may_be_used_up(count, held.sent, by_then))
    };
    let explained = scene.may_be_gone(offset) || ack.sent > t || used_up() || ended_by_another();
    // A drain that finds the record delivered again says nothing of this acknowledgement.
    let delivered_again = Some((t, event)) == drain
        && life
            .grants
            .iter()
            .any(|grant| grant.count > held.count && grant.t <= t);
    (!explained && !delivered_again).then_some((t, event))
}
