//! Checking a whole history.

use std::collections::BTreeMap;

use crate::checks::{accepted, available, counts, drained, holders, idle, start_offset, unknown};
use crate::gather::Gathered;
use crate::history::History;
use crate::lives::each_life;
use crate::scene::Scene;
use crate::settings::Settings;
use crate::violation::{Check, Violation};

pub use crate::checks::holders::Lateness;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The broken promises, by group, topic, partition and offset.
    pub violations: Vec<Violation>,
    /// How late locks ended.
    pub lateness: Lateness,
    /// Share partitions that were looked at.
    pub share_partitions: usize,
}

/// How many violations of one check are told of a record. Where there are more, all were no longer to read.
const MOST_OF_A_RECORD: usize = 4;

/// Checks a history.
#[must_use]
pub fn check(history: &History, settings: &Settings) -> Report {
    let gathered = Gathered::of(history);
    let mut report = Report::default();
    for (&key, events) in &gathered.share_partitions {
        let scene = Scene::new(history, settings, &gathered, key, events);
        let idle = idle::idle_times(&scene);
        let mut unknowns = unknown::Shown::default();
        let mut lateness = Lateness::default();
        let mut found = Vec::new();
        start_offset::check_views(&scene, &mut found);
        let mut kept = Vec::new();
        each_life(&scene, |life| {
            let mut of_life = Vec::new();
            accepted::check(&scene, life, &mut of_life);
            holders::check(&scene, life, &mut lateness, &mut of_life);
            drained::check(&scene, life, &mut of_life);
            counts::check(&scene, life, &mut of_life);
            start_offset::check_passed(&scene, life, &mut of_life);
            available::check(&scene, life, &idle, &mut of_life);
            unknowns.note(&scene, life);
            a_few_of_each(&mut of_life);
            of_life.into_iter().for_each(|one| join(&mut kept, one));
        });
        found.append(&mut kept);
        unknowns.check(&scene, &mut found);
        report.violations.append(&mut found);
        report.lateness.add(lateness);
        report.share_partitions += 1;
    }
    report
}

/// Keeps the first violations of each check.
fn a_few_of_each(of_life: &mut Vec<Violation>) {
    let mut told: BTreeMap<Check, usize> = BTreeMap::new();
    of_life.retain(|one| {
        let number = told.entry(one.check).or_default();
        *number += 1;
        *number <= MOST_OF_A_RECORD
    });
}

/// Adds a violation, to that of the records just before if the same events show it.
fn join(kept: &mut Vec<Violation>, one: Violation) {
    /// So many of the last ones may be of the records just before.
    const NEAR: usize = 16;
    let from = kept.len().saturating_sub(NEAR);
    for before in kept.iter_mut().skip(from) {
        if let (Some(span), Some(next)) = (&mut before.span, one.span)
            && span.last.checked_add(1) == Some(next.first)
            && (before.check, before.text, &before.excerpt) == (one.check, one.text, &one.excerpt)
        {
            span.last = next.last;
            return;
        }
    }
    kept.push(one);
}
