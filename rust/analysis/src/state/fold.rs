//! The states of one state partition while its records are read.

use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::history::{At, Beginning, Oddity, Standing};
use share_state_core::ids::SharePartitionKey;
use share_state_core::records::ShareValue;
use share_state_wire::WireError;
use share_state_wire::state_record::{RecordDecoder, Seen};

use super::{StateRow, Writes};

/// Folds the records of one state partition, in the order of their offsets. Memory is that of the live states.
#[derive(Clone, Debug, Default)]
pub struct StateFold {
    decoder: RecordDecoder,
    /// The share partition of each number in the decoder, while it is live.
    live: Vec<Option<(SharePartitionKey, Live)>>,
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

    /// Reads the next record and applies it. One of a type that is not known is skipped, as Kafka's loader does.
    ///
    /// # Errors
    /// The record cannot be read; no state has changed.
    pub fn read(&mut self, at: At, key: &[u8], value: Option<&[u8]>) -> Result<(), WireError> {
        let Seen::Record { number, key, value } = self.decoder.decode(key, value)? else {
            return Ok(());
        };
        if self.live.len() <= number {
            self.live.resize(number + 1, None);
        }
        let Some(place) = self.live.get_mut(number) else {
            return Ok(());
        };
        if *value == ShareValue::Tombstone {
            *place = None;
            self.decoder.forget(number);
            return Ok(());
        }
        let writes = Writes {
            oldest: at.timestamp,
            newest: at.timestamp,
        };
        let (_, live) = place.get_or_insert_with(|| (key.clone(), Live::at(writes)));
        let odd = Oddity::of(value, live.state.as_ref()).is_some();
        if Beginning::of(value, live.state.as_ref()) == Beginning::Initialised {
            live.writes = writes;
        }
        if ShareGroupOffset::fold(&mut live.state, value) || odd {
            live.writes.newest = at.timestamp;
        }
        if matches!(value, ShareValue::Snapshot(_)) {
            live.snapshot_offset = Some(at.offset);
        }
        Ok(())
    }

    /// The rows, ordered by share partition.
    pub fn rows(&self, state_partition: u32) -> impl Iterator<Item = StateRow> {
        let mut live: Vec<_> = self.live.iter().flatten().collect();
        live.sort_unstable_by_key(|(key, _)| key);
        live.into_iter()
            .filter_map(move |(key, live)| row(key, state_partition, live))
    }
}

impl Live {
    const fn at(writes: Writes) -> Self {
        Self {
            state: None,
            snapshot_offset: None,
            writes,
        }
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
