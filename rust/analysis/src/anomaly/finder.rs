//! Looks for what is wrong in a history.

mod standing;

use std::collections::HashMap;
use std::sync::Arc;

use share_state_core::history::{Cause, HistoryRow};
use share_state_core::ids::SharePartitionKey;

use super::config::{AnomalyConfig, Beside};
use super::context::Context;
use super::life::{Intervals, Life};
use super::limit::Limits;
use super::row::{Anomaly, Found};
use super::suspicion::{OfLife, Suspicion};
use super::verdict;
use super::{AnomalyKind, Mark, Severity};

/// A live share partition.
#[derive(Clone, Debug)]
struct Live {
    life: Life,
    /// The time of its last snapshot, where that was seen.
    snapshot_ms: Option<i64>,
}

/// Finds what is wrong by the rows of a history, state partition after state partition, in the order of their offsets.
///
/// What befell single records is told at the end of all, one finding a record: by then it is known what else befell them, and
/// the delivery limit of their group. What else lasts is told when its state partition ends. Memory is that of the live share
/// partitions of one state partition, and of the records of which something is told.
#[derive(Clone, Debug)]
pub struct Finder {
    config: Arc<AnomalyConfig>,
    beside: Beside,
    intervals: Intervals,
    /// Live share partitions, in boxes: a table of what is large has much room that is not used.
    live: HashMap<SharePartitionKey, Box<Live>>,
    /// The state partition that is being read, and its last record.
    current: Option<(u32, Mark)>,
    limits: Limits,
    /// Suspicions against single records of share partitions that are over.
    suspicions: Vec<OfLife>,
}

impl Finder {
    /// Nothing has been read.
    #[must_use]
    pub fn new(config: impl Into<Arc<AnomalyConfig>>, beside: Beside) -> Self {
        Self {
            config: config.into(),
            beside: beside.sorted(),
            intervals: Intervals::default(),
            live: HashMap::new(),
            current: None,
            limits: Limits::default(),
            suspicions: Vec::new(),
        }
    }

    /// Takes all rows of one record of the state topic.
    pub fn record(&mut self, state_partition: u32, rows: &[HistoryRow], out: &mut Vec<Anomaly>) {
        let Some(first) = rows.first() else {
            return;
        };
        if self
            .current
            .is_some_and(|(partition, _)| partition != state_partition)
        {
            self.end_partition(out);
        }
        let ms = self.current.map_or(0, |(_, end)| end.ms);
        let end = Mark {
            offset: first.at.offset,
            ms: ms.max(first.at.timestamp),
        };
        self.current = Some((state_partition, end));
        if self.config.limit(&first.key.group).is_none() {
            rows.iter().for_each(|row| self.limits.see(row));
        }
        let on = Context {
            config: &self.config,
            beside: &self.beside,
            key: &first.key,
            state_partition,
            limits: &self.limits,
        };
        // What was known of a share partition is gone with its deletion, and with a new initialisation.
        if matches!(first.cause, Cause::Deleted | Cause::Initialised)
            && let Some(old) = self.live.remove(&first.key)
        {
            let all = old.life.ended(on, first, out);
            note(&mut self.suspicions, on, all);
        }
        if first.cause == Cause::Deleted {
            return;
        }
        if !self.live.contains_key(&first.key) {
            let life = Life::new(first, &self.beside);
            let live = Live {
                life,
                snapshot_ms: None,
            };
            self.live.insert(first.key.clone(), Box::new(live));
        }
        let Some(live) = self.live.get_mut(&first.key) else {
            return;
        };
        if first.standing.snapshot_offset == Some(first.at.offset) {
            live.snapshot_ms = Some(first.at.timestamp);
        }
        live.life.record(on, &mut self.intervals, rows, out);
    }

    /// The rows of a state partition are over.
    pub fn end_partition(&mut self, out: &mut Vec<Anomaly>) {
        let Some((state_partition, end)) = self.current.take() else {
            return;
        };
        let mut live: Vec<_> = self.live.drain().collect();
        live.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let cold = cold_key(
            live.iter().map(|(key, live)| (key, live)),
            end,
            &self.config,
        );
        let cold = cold.map(|(key, found)| found.of(key, state_partition));
        for (key, live) in live {
            let on = Context {
                config: &self.config,
                beside: &self.beside,
                key: &key,
                state_partition,
                limits: &self.limits,
            };
            let all = live.life.end(on, end, out);
            note(&mut self.suspicions, on, all);
        }
        out.extend(cold);
    }

    /// All rows are over.
    pub fn end(&mut self, out: &mut Vec<Anomaly>) {
        self.end_partition(out);
        for of in std::mem::take(&mut self.suspicions) {
            verdict::tell(&of, &self.config, &self.limits, out);
        }
        self.limits = Limits::default();
    }
}

fn note(suspicions: &mut Vec<OfLife>, on: Context<'_>, all: Vec<Suspicion>) {
    if !all.is_empty() {
        suspicions.push(OfLife {
            key: on.key.clone(),
            state_partition: on.state_partition,
            all,
        });
    }
}

/// The one share partition whose snapshot stands before all others', if it keeps many records.
fn cold_key<'a>(
    live: impl Iterator<Item = (&'a SharePartitionKey, &'a Box<Live>)>,
    end: Mark,
    config: &AnomalyConfig,
) -> Option<(&'a SharePartitionKey, Found)> {
    let known =
        live.filter_map(|(key, live)| Some((live.life.snapshot_offset()?, key, live.snapshot_ms?)));
    let (mut first, mut second) = (None, None);
    for one in known {
        if first.is_none_or(|least| one < least) {
            second = first.replace(one);
        } else if second.is_none_or(|least| one < least) {
            second = Some(one);
        }
    }
    let (offset, key, snapshot_ms) = first?;
    let next_offset = second.map_or(end.offset, |next| next.0);
    let kept = next_offset.saturating_sub(offset);
    let age = end.ms.saturating_sub(snapshot_ms);
    if kept < config.cold_records || age < config.cold_ms {
        return None;
    }
    let found = Found {
        kind: AnomalyKind::ColdKey,
        severity: Severity::Warning,
        range: None,
        since: Mark {
            offset,
            ms: snapshot_ms,
        },
        until: None,
        evidence: format!(
            "its last snapshot stands at {offset} and is {age} ms older than the end of the log at {}: it alone keeps {kept} \
             records of the state topic from being pruned",
            end.offset
        ),
        advice: AnomalyKind::ColdKey.advice(),
    };
    Some((key, found))
}
