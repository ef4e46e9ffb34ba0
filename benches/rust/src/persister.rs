//! Persister of the runner: takes the writes, confirms them, and tells a leader what was persisted.

use share_state_core::persister::{ReadStateResult, WriteStateRef};

/// Writes that a caller gathers at most before it hands them to the store.
pub const GATHERED: usize = 1_000;

/// Takes the writes, and confirms each at once unless it is polled.
pub trait Persister {
    /// Takes one WriteShareGroupState.
    fn write(&mut self, partition: u32, state: WriteStateRef<'_>);
    /// Returns what was persisted from `start` on.
    fn read(&self, partition: u32, start: i64) -> ReadStateResult;
    /// Returns true if its caller hands writes over by polling, and confirms them after [`Self::commit`].
    fn is_polled(&self) -> bool {
        false
    }
    /// Writes that were taken and wait for [`Self::commit`].
    fn gathered(&self) -> usize {
        0
    }
    /// Makes what was gathered durable.
    fn commit(&mut self) {}
}

/// Counts.
#[derive(Debug, Default)]
pub struct Counting {
    /// Writes.
    pub writes: u64,
    /// State batches in them.
    pub batches: u64,
    /// Bytes of the requests (version 1, without header).
    pub bytes: u64,
}

/// Bytes of a WriteShareGroupState request, version 1, of one share partition of the group `group`, without the number of
/// its batches and the batches.
pub const REQUEST_BYTES: u64 = 51;
/// Bytes of a state batch in it.
pub const BATCH_BYTES: u64 = 20;

impl Persister for Counting {
    fn write(&mut self, _: u32, state: WriteStateRef<'_>) {
        let batches = state.state_batches.len() as u64;
        self.writes += 1;
        self.batches += batches;
        self.bytes += REQUEST_BYTES + length_bytes(batches) + BATCH_BYTES * batches;
    }

    /// Nothing: whoever only counts keeps nothing, so logs with leader changes are timed with
    /// [`Durable`](crate::durable::Durable).
    fn read(&self, _: u32, start: i64) -> ReadStateResult {
        ReadStateResult {
            state_epoch: 0,
            start_offset: start,
            state_batches: Vec::new(),
        }
    }
}

/// Bytes of the length of a compact array.
const fn length_bytes(items: u64) -> u64 {
    let bits = 64 - (items + 1).leading_zeros() as u64;
    bits.div_ceil(7)
}

#[cfg(test)]
mod tests {
    use share_state_core::ids::TopicId;
    use share_state_core::persister::WriteState;
    use share_state_core::state_batch::StateBatch;
    use share_state_wire::messages::encode_write_request;

    use super::*;

    #[test]
    fn the_bytes_that_are_counted_are_those_of_the_codec() {
        let batch = StateBatch {
            first_offset: 1,
            last_offset: 2,
            delivery_state: 2,
            delivery_count: 1,
        };
        for batches in [0, 1, 126, 127, 500, 20_000] {
            let state = WriteState {
                state_epoch: 0,
                leader_epoch: 0,
                start_offset: 0,
                delivery_complete_count: 0,
                state_batches: vec![batch; batches],
            };
            let topics = [(TopicId([7; 16]), &[(0, &state)][..])];
            let encoded = encode_write_request("group", &topics, 1).unwrap();
            let mut counting = Counting::default();
            counting.write(0, (&state).into());
            assert_eq!(counting.bytes, encoded.len() as u64, "{batches} batches");
        }
    }
}
