//! The states of one state partition while its records are read.

use std::collections::HashMap;

use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::history::{At, Beginning, Oddity, Standing};
use share_state_core::ids::SharePartitionKey;
use share_state_core::records::{ShareRecord, ShareValue};

use super::{StateRow, Writes};

/// Folds the records of one state partition, in the order of their offsets. Memory is that of the live states.
#[derive(Clone, Debug, Default)]
pub struct StateFold {
    live: HashMap<SharePartitionKey, Live>,
}

/// A state, and when it was written to.
#[derive(Clone, Debug)]
struct Live {
    state: Option<ShareGroupOffset>,
    snapshot_offset: Option<i64>,
    writes: Writes,
}

impl StateFold {
    /// Nothing is known of any share partition.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies the next record.
    pub fn apply(&mut self, at: At, record: ShareRecord) {
        let ShareRecord { key, value } = record;
        if value == ShareValue::Tombstone {
            self.live.remove(&key);
            return;
        }
        let writes = Writes {
            oldest: at.timestamp,
            newest: at.timestamp,
        };
        let live = self.live.entry(key).or_insert(Live {
            state: None,
            snapshot_offset: None,
            writes,
        });
        let odd = Oddity::of(&value, live.state.as_ref()).is_some();
        if Beginning::of(&value, live.state.as_ref()) == Beginning::Initialised {
            live.writes = writes;
        }
        if ShareGroupOffset::fold(&mut live.state, &value) || odd {
            live.writes.newest = at.timestamp;
        }
        if matches!(value, ShareValue::Snapshot(_)) {
            live.snapshot_offset = Some(at.offset);
        }
    }

    /// The state of a share partition behind the last record.
    #[must_use]
    pub fn state(&self, key: &SharePartitionKey) -> Option<&ShareGroupOffset> {
        self.live.get(key)?.state.as_ref()
    }

    /// The rows, ordered by share partition.
    pub fn rows(&self, state_partition: u32) -> impl Iterator<Item = StateRow> {
        let mut live: Vec<_> = self.live.iter().collect();
        live.sort_unstable_by_key(|(key, _)| *key);
        live.into_iter()
            .filter_map(move |(key, live)| row(key, state_partition, live))
    }
}

fn row(key: &SharePartitionKey, state_partition: u32, live: &Live) -> Option<StateRow> {
    let state = live.state.as_ref()?;
    let standing = Standing::of(state, live.snapshot_offset);
    let batches = state.state_batches.to_vec();
    Some(StateRow::new(
        key.clone(),
        state_partition,
        standing,
        live.writes,
        batches,
    ))
}
