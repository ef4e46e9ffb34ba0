//! Watch over a state partition that is followed while it grows: what went wrong lately.

use std::sync::Arc;

use share_state_core::history::HistoryRow;

use super::config::{AnomalyConfig, Beside};
use super::finder::Finder;
use super::row::Anomaly;

/// Most findings that are over and kept of a state partition; of more, the latest.
pub const MOST_KEPT: usize = 1_000;
/// Rows between two looks at how many are kept.
const LOOK_EVERY: usize = 20_000;

/// A finder that never comes to an end: it tells what lasts and what was over lately, and lets go what was over before.
///
/// What it tells of a time is what a finder tells that keeps everything. Memory is that of the live share partitions, and of at
/// most [`MOST_KEPT`] findings and those of `LOOK_EVERY` rows; one number more for each group whose delivery limit is not
/// given.
#[derive(Clone, Debug)]
pub struct Watch {
    config: Arc<AnomalyConfig>,
    finder: Finder,
    /// Anomalies that were over when they were told.
    told: Vec<Anomaly>,
    /// Time, ms; an anomaly that was over before is not kept.
    from_ms: i64,
    rows: usize,
}

impl Watch {
    /// Nothing has been read.
    #[must_use]
    pub fn new(config: Arc<AnomalyConfig>) -> Self {
        Self {
            finder: Finder::new(Arc::clone(&config), Beside::default()),
            config,
            told: Vec::new(),
            from_ms: i64::MIN,
            rows: 0,
        }
    }

    /// Forgets everything but the thresholds.
    pub fn begin_again(&mut self) {
        *self = Self::new(Arc::clone(&self.config));
    }

    /// Goes on with other thresholds. Of what was found, what the new delivery limits allow is not told any more.
    pub fn configure(&mut self, config: Arc<AnomalyConfig>) {
        self.finder.configure(Arc::clone(&config));
        self.config = config;
    }

    /// Takes all rows of one record of the state partition.
    pub fn record(&mut self, state_partition: u32, rows: &[HistoryRow]) {
        self.finder.record(state_partition, rows, &mut self.told);
        self.rows += rows.len();
        if self.rows >= LOOK_EVERY {
            self.rows = 0;
            self.keep_the_latest();
        }
    }

    /// Lets go what was over before.
    pub fn forget_before(&mut self, ms: i64) {
        if ms <= self.from_ms {
            return;
        }
        self.from_ms = ms;
        self.told.retain(|one| one.lasts_until(ms));
        self.told.shrink_to(2 * self.told.len());
        self.finder.forget_before(ms);
    }

    /// Appends what lasts, and what was not over before `since_ms`, as if the log ended here. Returns since when that is all:
    /// later than asked if it was let go.
    pub fn since(&self, since_ms: i64, out: &mut Vec<Anomaly>) -> i64 {
        let since_ms = since_ms.max(self.from_ms);
        out.extend(
            self.told
                .iter()
                .filter(|one| one.lasts_until(since_ms))
                .cloned(),
        );
        self.finder.standing(since_ms, out);
        since_ms
    }

    /// Number of findings that are over and kept.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.over().count()
    }

    fn over(&self) -> impl Iterator<Item = i64> + '_ {
        let told = self.told.iter().filter_map(|one| one.until_timestamp);
        told.chain(self.finder.over())
    }

    fn keep_the_latest(&mut self) {
        let mut over: Vec<_> = self.over().collect();
        let Some(too_many) = over.len().checked_sub(MOST_KEPT + 1) else {
            return;
        };
        // Of those that were over at the same moment, none is kept.
        let (_, last, _) = over.select_nth_unstable(too_many);
        let after = last.saturating_add(1);
        self.forget_before(after);
    }
}
