//! The rules that look at one share partition while its history is read.

mod head;
mod intervals;

use std::cmp::Ordering;

use share_state_core::history::{At, Cause, HistoryRow, Standing};

use super::config::{AnomalyConfig, Beside};
use super::context::{Context, Open};
use super::lag::{self, Lag};
use super::row::{Anomaly, Found};
use super::suspicion::Suspicion;
use super::window::Window;
use super::{AnomalyKind, Mark, Severity};
pub(super) use intervals::Intervals;

/// Deliveries after the start offset since it moved last.
#[derive(Clone, Copy, Debug)]
struct After {
    /// The first of them.
    since: Mark,
    records: u64,
}

/// Life of a share partition, from its initialisation on (or from where the log begins) to its deletion.
#[derive(Clone, Debug)]
pub(super) struct Life {
    at: At,
    standing: Standing,
    window: Window,
    after: Option<After>,
    stuck: Option<Box<Suspicion>>,
    /// Since when as many offsets are in flight as the limit allows.
    full: Option<Mark>,
    /// Records in a row in which the delivery complete count disagreed.
    disagreeing: u64,
    count: Option<Box<Open>>,
    lag: Lag,
    /// Suspicions against single records, beside what lasts: told when all rows are over.
    pub suspicions: Vec<Suspicion>,
}

impl Life {
    /// Begins with the first row.
    pub fn new(row: &HistoryRow, beside: &Beside) -> Self {
        Self {
            at: row.at,
            standing: row.standing,
            window: Window::default(),
            after: None,
            stuck: None,
            full: None,
            disagreeing: 0,
            count: None,
            lag: Lag::behind(beside.samples(&row.key), row.at.timestamp),
            suspicions: Vec::new(),
        }
    }

    /// Offset of the last snapshot in the state topic.
    pub const fn snapshot_offset(&self) -> Option<i64> {
        self.standing.snapshot_offset
    }

    /// Takes the rows of one record of the state topic.
    pub fn record(
        &mut self,
        on: Context<'_>,
        intervals: &mut Intervals,
        rows: &[HistoryRow],
        out: &mut Vec<Anomaly>,
    ) {
        let Some(first) = rows.first() else {
            return;
        };
        let samples = on.beside.samples(on.key);
        self.lag
            .measure(on, samples, &self.standing, self.at, Some(first.at), out);
        let old = std::mem::replace(&mut self.standing, first.standing);
        self.at = first.at;
        self.epochs(on, old, rows, out);
        for row in rows {
            if let Some(range) = row.range {
                let (window, suspicions) = (&mut self.window, &mut self.suspicions);
                intervals.take(on, window, row, range, suspicions, out);
            }
        }
        self.start_offset(on, old, rows);
        self.full = self
            .is_full(on)
            .then(|| self.full.unwrap_or(Mark::of(self.at)));
        self.delivery_complete_count(on, out);
    }

    /// Takes the rows that end this life, of a deletion or a new initialisation, and tells what lasted until then; returns what
    /// is said against single records.
    pub fn ended(
        mut self,
        on: Context<'_>,
        row: &HistoryRow,
        out: &mut Vec<Anomaly>,
    ) -> Vec<Suspicion> {
        let samples = on.beside.samples(on.key);
        self.lag
            .measure(on, samples, &self.standing, self.at, Some(row.at), out);
        let old = std::mem::replace(&mut self.standing, row.standing);
        self.at = row.at;
        if row.standing.state_epoch < old.state_epoch {
            let (from, to) = (old.state_epoch, row.standing.state_epoch);
            self.epoch(
                on,
                format!("the state epoch goes from {from} back to {to}"),
                out,
            );
        }
        let until = Some(row.at.timestamp);
        self.moved(until);
        on.tell_open(AnomalyKind::CountDisagrees, self.count.take(), until, out);
        self.lag.over(on, until, out);
        Intervals::end(on, &self.window, until, &mut self.suspicions);
        self.suspicions
    }

    /// Tells what lasts at the end of the log, which is at `end`; returns what is said against single records.
    pub fn end(mut self, on: Context<'_>, end: Mark, out: &mut Vec<Anomaly>) -> Vec<Suspicion> {
        let mut all = std::mem::take(&mut self.suspicions);
        self.lasting(on, end, out, &mut all);
        all
    }

    /// Tells what lasts if the log ends at `end`, and adds what is then said against single records.
    pub fn lasting(
        &self,
        on: Context<'_>,
        end: Mark,
        out: &mut Vec<Anomaly>,
        all: &mut Vec<Suspicion>,
    ) {
        let samples = on.beside.samples(on.key);
        let mut lag = self.lag;
        lag.measure(on, samples, &self.standing, self.at, None, out);
        // Another record may hold it by now.
        let is_none_left = lag::is_none_left(samples, &self.standing, self.at);
        let held = self
            .after
            .filter(|_| !is_none_left)
            .and_then(|after| self.held(self.standing.start_offset, after));
        let until = held.is_none().then_some(self.at.timestamp);
        let stuck = self.stuck.as_deref().cloned();
        let stuck = stuck.map(|old| held.unwrap_or(old));
        all.extend(stuck.map(|stuck| Suspicion { until, ..stuck }));
        on.tell_open(AnomalyKind::CountDisagrees, self.count.clone(), None, out);
        lag.over(on, None, out);
        Intervals::end(on, &self.window, None, all);
        self.window_full(on, out);
        if self.standing.snapshot_offset.is_none() {
            let evidence = "the log holds updates of this share partition but no snapshot below them: its state epoch is not known";
            let found = self.found(
                AnomalyKind::MissingSnapshot,
                Severity::Critical,
                evidence.to_owned(),
            );
            on.tell(found, out);
        }
        if on.beside.is_deleted(on.key) {
            let topic_id = on.key.topic_id;
            let evidence =
                format!("topic {topic_id} does not exist any more, and its state was not deleted");
            let found = self.found(AnomalyKind::DeletedTopic, Severity::Warning, evidence);
            on.tell(found, out);
        }
        if !is_none_left && self.unknown_are_counted() != Some(Ordering::Equal) {
            self.gaps(on, end, all);
        }
    }

    /// The start offset stood until then; it stands when there is no `until`.
    fn moved(&mut self, until: Option<i64>) {
        let stuck = self.stuck.take();
        self.suspicions
            .extend(stuck.map(|stuck| Suspicion { until, ..*stuck }));
    }

    fn start_offset(&mut self, on: Context<'_>, old: Standing, rows: &[HistoryRow]) {
        let start = self.standing.start_offset;
        if old.start_offset != start {
            self.moved(Some(self.at.timestamp));
            self.after = None;
        }
        let delivered: u64 = rows
            .iter()
            .filter(|row| is_delivery(row.cause))
            .filter_map(|row| row.range)
            .fold(0, |all, range| all.saturating_add(range.len()));
        if delivered == 0 || start < 0 {
            return;
        }
        let since = Mark::of(self.at);
        let after = self.after.get_or_insert(After { since, records: 0 });
        after.records = after.records.saturating_add(delivered);
        let after = *after;
        let stood = self.at.timestamp.saturating_sub(after.since.ms);
        let AnomalyConfig {
            stuck_ms,
            stuck_records,
            ..
        } = on.config;
        if self.stuck.is_some() || stood < *stuck_ms || after.records < *stuck_records {
            return;
        }
        self.stuck = self.held(start, after).map(Box::new);
    }

    /// Compares the count with what is terminal: it is at least that.
    ///
    /// It may be more: what a leader archives without a write (aborted transactions, markers) counts too.
    fn delivery_complete_count(&mut self, on: Context<'_>, out: &mut Vec<Anomaly>) {
        let Standing {
            start_offset,
            delivery_complete_count: count,
            snapshot_offset,
            ..
        } = self.standing;
        let terminal = self.window.terminal();
        let is_unknown = count < 0 || start_offset < 0 || snapshot_offset.is_none();
        if is_unknown || u128::try_from(count).is_ok_and(|count| count >= terminal) {
            let until = Some(self.at.timestamp);
            on.tell_open(AnomalyKind::CountDisagrees, self.count.take(), until, out);
            self.disagreeing = 0;
            return;
        }
        self.disagreeing += 1;
        if self.disagreeing == on.config.count_records {
            self.count = Some(Box::new(Open {
                since: Mark::of(self.at),
                range: None,
                evidence: format!(
                    "the delivery complete count is {count}, but {terminal} records from {start_offset} on are settled"
                ),
                advice: AnomalyKind::CountDisagrees.advice(),
            }));
        }
    }

    fn epochs(&self, on: Context<'_>, old: Standing, rows: &[HistoryRow], out: &mut Vec<Anomaly>) {
        let now = self.standing;
        let mut told = Vec::new();
        if now.leader_epoch < old.leader_epoch {
            let (from, to) = (old.leader_epoch, now.leader_epoch);
            told.push(format!("the leader epoch goes from {from} back to {to}"));
        }
        let has = |cause| rows.iter().any(|row| row.cause == cause);
        let epoch = now.snapshot_epoch;
        if has(Cause::SnapshotEpochNotRising) {
            told.push(format!(
                "a snapshot of epoch {epoch} follows one of no lower epoch"
            ));
        }
        if has(Cause::UpdateOfOtherSnapshot) {
            told.push(format!(
                "an update names another snapshot than the last, which has epoch {epoch}"
            ));
        }
        if !told.is_empty() {
            self.epoch(on, told.join("; "), out);
        }
        if now.start_offset < 0 && old.start_offset >= 0 {
            on.tell(intervals::start_offset_went_back(now, self.at, None), out);
        }
    }

    fn epoch(&self, on: Context<'_>, evidence: String, out: &mut Vec<Anomaly>) {
        let mut found = self.found(AnomalyKind::EpochWentBack, Severity::Critical, evidence);
        found.until = Some(self.at.timestamp);
        on.tell(found, out);
    }

    /// Finding about the share partition as a whole, since the last record; it lasts.
    fn found(&self, kind: AnomalyKind, severity: Severity, evidence: String) -> Found {
        Found {
            kind,
            severity,
            range: None,
            since: Mark::of(self.at),
            until: None,
            evidence,
            advice: kind.advice(),
        }
    }
}

/// Returns `true` if a cause is the end of a delivery.
const fn is_delivery(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::Released | Cause::Accepted | Cause::Archiving | Cause::Archived
    )
}
