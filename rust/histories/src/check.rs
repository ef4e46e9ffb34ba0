//! Checking a whole history.

use std::collections::BTreeMap;

use crate::checks::{
    accepted, available, counts, drained, holders, idle, leaders, start_offset, unknown,
};
use crate::each_record::each_record;
use crate::event_index::EventIndex;
use crate::history::History;
use crate::lock::Lock;
use crate::settings::Settings;
use crate::share_partition::SharePartition;
use crate::violation::{Check, Violation};

pub use crate::checks::holders::Lateness;

/// Findings of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The broken promises, by group, topic, partition and offset.
    pub violations: Vec<Violation>,
    /// Delays with which locks ended late.
    pub lateness: Lateness,
    /// Share partitions that were looked at.
    pub share_partitions: usize,
}

/// Violations of one check that are told of a record, at most. Where there are more, all were no longer to read.
const MOST_OF_A_RECORD: usize = 4;

/// Checks a history.
#[must_use]
pub fn check(history: &History, settings: &Settings) -> Report {
    let index = EventIndex::of(history);
    let mut report = Report::default();
    for (&key, events) in &index.share_partitions {
        let partition = SharePartition::new(history, settings, &index, key, events);
        let idle = idle::idle_times(&partition);
        let mut unknowns = unknown::Shown::default();
        let mut lateness = Lateness::default();
        let mut found = Vec::new();
        start_offset::check_views(&partition, &mut found);
        let mut kept = Vec::new();
        each_record(&partition, |record| {
            let mut of_record = Vec::new();
            let locks = Lock::of_all(&partition, record);
            accepted::check(&partition, record, &mut of_record);
            holders::check(&partition, record, &locks, &mut lateness, &mut of_record);
            drained::check(&partition, record, &mut of_record);
            counts::check(&partition, record, &mut of_record);
            leaders::check(&partition, record, &locks, &mut of_record);
            start_offset::check_passed(&partition, record, &mut of_record);
            available::check(&partition, record, &idle, &mut of_record);
            unknowns.note(&partition, record);
            a_few_of_each(&mut of_record);
            of_record.into_iter().for_each(|one| join(&mut kept, one));
        });
        found.append(&mut kept);
        unknowns.check(&partition, &mut found);
        report.violations.append(&mut found);
        report.lateness.add(lateness);
        report.share_partitions += 1;
    }
    report
}

/// Keeps the first violations of each check.
fn a_few_of_each(of_record: &mut Vec<Violation>) {
    let mut told: BTreeMap<Check, usize> = BTreeMap::new();
    of_record.retain(|one| {
        let number = told.entry(one.check).or_default();
        *number += 1;
        *number <= MOST_OF_A_RECORD
    });
}

/// Adds a violation, to that of the records just before if the same events show it.
fn join(kept: &mut Vec<Violation>, one: Violation) {
    /// Number of the last ones that may be of the records just before.
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
