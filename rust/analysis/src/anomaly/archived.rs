//! Records that were delivered as often as the limit allows: single ones, or a burst of them.
//!
//! A limit that is not given is taken from the whole log, so both are told at its end.

use std::collections::HashMap;

use share_state_core::history::{At, Cause, Delivery, HistoryRow};
use share_state_core::ids::SharePartitionKey;
use share_state_core::offset::OffsetRange;
use share_state_core::record_state::RecordState;

use super::config::AnomalyConfig;
use super::row::{Anomaly, Found};
use super::{AnomalyKind, Mark, Severity};

/// Kafka's least delivery limit (`GroupConfig`: `share.delivery.count.limit`).
const LEAST_LIMIT: i64 = 2;

/// Records that were given up together.
#[derive(Clone, Copy, Debug)]
struct GivenUp {
    range: OffsetRange,
    at: At,
    count: i16,
}

/// Those of one share partition.
#[derive(Clone, Debug)]
struct OfKey {
    key: SharePartitionKey,
    state_partition: u32,
    rows: Vec<GivenUp>,
}

/// Collects the records that may have been archived at the limit.
#[derive(Clone, Debug, Default)]
pub(super) struct Archived {
    /// The highest count with which a record of a group was released.
    released: HashMap<String, i64>,
    keys: HashMap<SharePartitionKey, usize>,
    /// In the order in which they were seen first.
    of_keys: Vec<OfKey>,
}

fn is_given_up(delivery: Delivery) -> bool {
    matches!(
        RecordState::from_id(delivery.state),
        Some(RecordState::Archiving | RecordState::Archived)
    )
}

impl Archived {
    /// Takes a row.
    pub fn see(&mut self, config: &AnomalyConfig, state_partition: u32, row: &HistoryRow) {
        let (Some(range), Some(to)) = (row.range, row.to) else {
            return;
        };
        let group = &*row.key.group;
        if to.state == RecordState::Available.id() {
            let count = i64::from(to.count);
            match self.released.get_mut(group) {
                Some(highest) => *highest = count.max(*highest),
                None => {
                    self.released.insert(group.to_owned(), count);
                }
            }
            return;
        }
        let arrives = matches!(row.cause, Cause::Archived | Cause::Archiving | Cause::Found);
        let was_given_up = row.from.is_some_and(is_given_up);
        // A limit only rises while a log is read: one as low as this count may be ruled out already.
        let may_be = i64::from(to.count) >= self.limit(config, group);
        if is_given_up(to) && arrives && !was_given_up && may_be {
            let row_of = GivenUp {
                range,
                at: row.at,
                count: to.count,
            };
            let index = *self.keys.entry(row.key.clone()).or_insert_with(|| {
                self.of_keys.push(OfKey {
                    key: row.key.clone(),
                    state_partition,
                    rows: Vec::new(),
                });
                self.of_keys.len() - 1
            });
            if let Some(of_key) = self.of_keys.get_mut(index) {
                of_key.rows.push(row_of);
            }
        }
    }

    /// The limit as far as it is known by now.
    fn limit(&self, config: &AnomalyConfig, group: &str) -> i64 {
        config.limit(group).unwrap_or_else(|| {
            let here = self.released.get(group).copied().unwrap_or(0);
            let elsewhere = config.highest_released.get(group).copied().unwrap_or(0);
            here.max(elsewhere).saturating_add(1).max(LEAST_LIMIT)
        })
    }

    /// Tells what was archived at the limit.
    pub fn end(&self, config: &AnomalyConfig, out: &mut Vec<Anomaly>) {
        for of_key in &self.of_keys {
            let group = &*of_key.key.group;
            let limit = self.limit(config, group);
            let source = match config.limit(group) {
                Some(_) => "as configured",
                None => "by what the log shows of the group",
            };
            let why = format!("the limit is {limit}, {source}");
            let at_limit: Vec<_> = of_key
                .rows
                .iter()
                .copied()
                .filter(|row| i64::from(row.count) >= limit)
                .collect();
            for some in bursts(&at_limit, config) {
                let found = match some {
                    Part::Single(row) => poison(row, &why),
                    Part::Burst(rows) => burst(rows, &why),
                };
                out.extend(found.map(|found| found.of(&of_key.key, of_key.state_partition)));
            }
        }
    }
}

/// Rows that are told together.
enum Part<'a> {
    Single(GivenUp),
    Burst(&'a [GivenUp]),
}

/// Divides rows, in order of time, into bursts and single ones.
fn bursts<'a>(rows: &'a [GivenUp], config: &AnomalyConfig) -> Vec<Part<'a>> {
    let in_burst = in_bursts(rows, config);
    let mut parts = Vec::new();
    let mut begin = 0;
    while let Some(row) = rows.get(begin) {
        if !in_burst.get(begin).copied().unwrap_or(false) {
            parts.push(Part::Single(*row));
            begin += 1;
            continue;
        }
        let mut end = begin + 1;
        while let (Some(last), Some(next), Some(true)) =
            (rows.get(end - 1), rows.get(end), in_burst.get(end))
            && ms_between(*last, *next) <= config.burst_ms
        {
            end += 1;
        }
        parts.push(Part::Burst(rows.get(begin..end).unwrap_or_default()));
        begin = end;
    }
    parts
}

/// Which rows have, with those before them, enough records in a short enough time.
fn in_bursts(rows: &[GivenUp], config: &AnomalyConfig) -> Vec<bool> {
    let mut marked = vec![false; rows.len()];
    let (mut left, mut records) = (0, 0u128);
    // All before it are marked, or will not be.
    let mut looked_at = 0;
    for (right, row) in rows.iter().enumerate() {
        records += u128::from(row.range.len());
        while let Some(first) = rows.get(left)
            && left < right
            && ms_between(*first, *row) > config.burst_ms
        {
            records -= u128::from(first.range.len());
            left += 1;
        }
        if records >= u128::from(config.burst_records) {
            for mark in marked.iter_mut().take(right + 1).skip(left.max(looked_at)) {
                *mark = true;
            }
            looked_at = right + 1;
        }
    }
    marked
}

const fn ms_between(a: GivenUp, b: GivenUp) -> i64 {
    b.at.timestamp.saturating_sub(a.at.timestamp)
}

fn poison(row: GivenUp, why: &str) -> Option<Found> {
    let what = if row.range.len() > 1 {
        format!("records {} were", row.range)
    } else {
        format!("record {} was", row.range.first)
    };
    Some(Found {
        kind: AnomalyKind::PoisonRecord,
        severity: Severity::Warning,
        range: Some(row.range),
        since: Mark::of(row.at),
        until: Some(row.at.timestamp),
        evidence: format!("{what} archived after {} deliveries; {why}", row.count),
        advice: AnomalyKind::PoisonRecord.advice(),
    })
}

fn burst(rows: &[GivenUp], why: &str) -> Option<Found> {
    let (first, last) = (rows.first()?, rows.last()?);
    let records: u128 = rows.iter().map(|row| u128::from(row.range.len())).sum();
    let took = ms_between(*first, *last);
    let firsts = rows.iter().map(|row| row.range.first);
    let lasts = rows.iter().map(|row| row.range.last);
    Some(Found {
        kind: AnomalyKind::ArchiveBurst,
        severity: Severity::Critical,
        range: OffsetRange::new(firsts.min()?, lasts.max()?),
        since: Mark::of(first.at),
        until: Some(last.at.timestamp),
        evidence: format!(
            "{records} records were archived at the delivery limit within {took} ms; {why}"
        ),
        advice: AnomalyKind::ArchiveBurst.advice(),
    })
}
