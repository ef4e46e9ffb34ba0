//! The states of one state partition by the rows of its history.

use std::collections::HashMap;

use share_state_core::history::{Cause, Delivery, HistoryRow, Standing};
use share_state_core::ids::SharePartitionKey;
use share_state_core::interval_tree::{IntervalTree, RunValue};
use share_state_core::state_batch::StateBatch;

use super::{StateRow, Writes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known(Delivery);

impl RunValue for Known {}

/// Applies the rows of the history of one state partition. What they come to is what [`super::StateFold`] makes of the records.
#[derive(Clone, Debug, Default)]
pub struct StateReplay {
    live: HashMap<SharePartitionKey, Replayed>,
}

#[derive(Clone, Debug)]
struct Replayed {
    standing: Standing,
    writes: Writes,
    known: IntervalTree<Known>,
}

impl StateReplay {
    /// No row has been applied.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies the next row.
    pub fn apply(&mut self, row: &HistoryRow) {
        if row.cause == Cause::Deleted {
            self.live.remove(&row.key);
            return;
        }
        let now = row.at.timestamp;
        let begin = || Replayed {
            standing: row.standing,
            writes: Writes {
                oldest: now,
                newest: now,
            },
            known: IntervalTree::new(),
        };
        let live = self.live.entry(row.key.clone()).or_insert_with(begin);
        if row.cause == Cause::Initialised {
            *live = begin();
        }
        live.standing = row.standing;
        live.writes.newest = now;
        match (row.range, row.to) {
            (Some(range), Some(to)) => live.known.set(range, Known(to)),
            (Some(range), None) => live.known.remove(range),
            (None, _) => {}
        }
    }

    /// The rows of the states, ordered by share partition.
    pub fn rows(&self, state_partition: u32) -> impl Iterator<Item = StateRow> {
        let mut live: Vec<_> = self.live.iter().collect();
        live.sort_unstable_by_key(|(key, _)| *key);
        live.into_iter().map(move |(key, live)| {
            let batches = live.known.iter().map(|run| StateBatch {
                first_offset: run.range.first,
                last_offset: run.range.last,
                delivery_state: run.value.0.state,
                delivery_count: run.value.0.count,
            });
            let batches = batches.collect();
            StateRow::new(
                key.clone(),
                state_partition,
                live.standing,
                live.writes,
                batches,
            )
        })
    }
}
