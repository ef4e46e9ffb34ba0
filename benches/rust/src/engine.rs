//! What every engine that replays an operation log can do, and who takes its writes.

use share_state_core::persister::{ReadStateResult, WriteStateRef};
use share_state_core::share_partition::{AcknowledgeBatch, FetchedBatch};

use crate::oplog::{Answer, Header};

/// Records that a member was given, with how often they have been delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// First offset.
    pub first: i64,
    /// Last offset.
    pub last: i64,
    /// This delivery included.
    pub delivery_count: i16,
}

/// A fetch for a member.
#[derive(Clone, Copy, Debug)]
pub struct Fetch<'a> {
    /// The share partition.
    pub partition: u32,
    /// The member.
    pub member: u16,
    /// What the leader has read.
    pub fetched: &'a [FetchedBatch],
    /// The most records.
    pub max_records: i32,
    /// Records that a new in-flight batch holds at least.
    pub batch_size: i32,
}

/// What is compared of a share partition besides its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Start offset.
    pub start: i64,
    /// End offset.
    pub end: i64,
    /// Delivery complete count.
    pub complete: u64,
}

/// Takes the writes.
pub trait Persister {
    /// How writes are answered now.
    fn answer(&self) -> Answer;
    /// One WriteShareGroupState, and its answer.
    fn write(&mut self, partition: u32, state: WriteStateRef<'_>) -> Answer;
}

/// Share partitions that replay operations. Codes are Kafka's.
pub trait Engine {
    /// Share partitions with nothing in flight.
    fn open(header: &Header) -> Self;
    /// Gives records to a member.
    fn acquire(&mut self, fetch: &Fetch<'_>, given: impl FnMut(Grant)) -> i16;
    /// Takes a member's request, and the write that it leads to, to the persister.
    fn acknowledge(
        &mut self,
        partition: u32,
        member: u16,
        ranges: &[AcknowledgeBatch<'_>],
        persister: &mut impl Persister,
    ) -> i16;
    /// A member has left; the write that it leads to goes to the persister.
    fn release(&mut self, partition: u32, member: u16, persister: &mut impl Persister);
    /// The time is `now`; locks of the partition that are due run out.
    fn tick(&mut self, partition: u32, now: i64);
    /// Where to fetch next.
    fn next_fetch_offset(&mut self, partition: u32) -> i64;
    /// The log starts at `offset` now.
    fn log_start(&mut self, partition: u32, offset: i64);
    /// Takes all writes of the share partition to the persister, and its answers back.
    fn settle(&mut self, partition: u32, persister: &mut impl Persister);
    /// Answers with success what the oldest `operations` left open.
    fn complete(&mut self, operations: i64);
    /// A new leader with this state.
    fn reopen(&mut self, partition: u32, read: ReadStateResult);
    /// Where the window is.
    fn window(&self, partition: u32) -> Window;
}

/// Counts, and answers as the log says.
#[derive(Debug, Default)]
pub struct Counting {
    /// The answer from here on.
    pub answer: Answer,
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
    fn answer(&self) -> Answer {
        self.answer
    }

    fn write(&mut self, _: u32, state: WriteStateRef<'_>) -> Answer {
        let batches = state.state_batches.len() as u64;
        self.writes += 1;
        self.batches += batches;
        self.bytes += REQUEST_BYTES + length_bytes(batches) + BATCH_BYTES * batches;
        self.answer
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
