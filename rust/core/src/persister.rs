//! The contract between a share partition and whoever keeps its state, as plain data (Kafka: `Persister`).
//!
//! A share partition hands out what it wants written and is told the answer later; a share coordinator takes the same
//! data and decides. Neither knows the other.
//!
//! An [`InlinePersister`] answers while the share partition waits, for [`SharePartition::settle`]. Kafka's `SharePartition` is given
//! its `Persister` and calls it inside `acknowledge`. Here that is one way of two: whoever keeps the state elsewhere polls for the
//! writes and tells the answers later.
//!
//! [`SharePartition::settle`]: crate::share_partition::SharePartition::settle

use crate::delivery::StateBatch;
use crate::ids::SharePartitionKey;
use crate::kafka_code::KafkaCode;

/// The most state batches that one write carries: 20 bytes each on the wire, so a write stays near 1 MB. A
/// share partition has at most 4,000 records in flight beside one fetch, so an honest leader stays far below.
pub const MAX_STATE_BATCHES_PER_WRITE: usize = 50_000;

/// The most state batches that a state holds. All of them stand in one snapshot, of 20 MB then, and in one answer to a
/// read. A leader merges what lies side by side, so even 10⁶ records that alternate fit.
pub const MAX_STATE_BATCHES: usize = 1_000_000;

/// Names one write of one share partition until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteToken(pub u64);

/// InitializeShareGroupState for one share partition (RPC 83).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitializeState {
    /// Epoch of the new state, at least 0.
    pub state_epoch: i32,
    /// Start offset; -1 leaves it to `share.auto.offset.reset`.
    pub start_offset: i64,
}

/// ReadShareGroupState for one share partition (RPC 84).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadState {
    /// Epoch of the leader that reads, at least 0; older leaders are fenced from then on.
    pub leader_epoch: i32,
}

/// The answer to [`ReadState`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadStateResult {
    /// Epoch of the state, to be sent with every write.
    pub state_epoch: i32,
    /// Start offset; -1 when not yet resolved.
    pub start_offset: i64,
    /// State of the records after it, as far as it is known.
    pub state_batches: Vec<StateBatch>,
}

impl ReadStateResult {
    /// Result for a state in which nothing is acknowledged yet.
    #[must_use]
    pub const fn starting_at(start_offset: i64) -> Self {
        Self {
            state_epoch: 0,
            start_offset,
            state_batches: Vec::new(),
        }
    }
}

/// WriteShareGroupState for one share partition (RPC 85).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteState {
    /// Epoch of the state that the writer has read.
    pub state_epoch: i32,
    /// Epoch of the leader that writes.
    pub leader_epoch: i32,
    /// Start offset at the time of the change; -1 leaves it as it was.
    pub start_offset: i64,
    /// Terminal records at or after the start offset; -1 when unknown.
    pub delivery_complete_count: i32,
    /// State batches that changed.
    pub state_batches: Vec<StateBatch>,
}

/// A [`WriteState`] that somebody else keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteStateRef<'a> {
    /// As [`WriteState::state_epoch`].
    pub state_epoch: i32,
    /// As [`WriteState::leader_epoch`].
    pub leader_epoch: i32,
    /// As [`WriteState::start_offset`].
    pub start_offset: i64,
    /// As [`WriteState::delivery_complete_count`].
    pub delivery_complete_count: i32,
    /// As [`WriteState::state_batches`].
    pub state_batches: &'a [StateBatch],
}

impl WriteStateRef<'_> {
    /// The same as data of its own.
    #[must_use]
    pub fn to_write_state(&self) -> WriteState {
        WriteState {
            state_epoch: self.state_epoch,
            leader_epoch: self.leader_epoch,
            start_offset: self.start_offset,
            delivery_complete_count: self.delivery_complete_count,
            state_batches: self.state_batches.to_vec(),
        }
    }
}

impl<'a> From<&'a WriteState> for WriteStateRef<'a> {
    fn from(state: &'a WriteState) -> Self {
        Self {
            state_epoch: state.state_epoch,
            leader_epoch: state.leader_epoch,
            start_offset: state.start_offset,
            delivery_complete_count: state.delivery_complete_count,
            state_batches: &state.state_batches,
        }
    }
}

/// The answer to ReadShareGroupStateSummary for one share partition (RPC 87).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateSummary {
    /// Epoch of the state.
    pub state_epoch: i32,
    /// Highest leader epoch that has read it.
    pub leader_epoch: i32,
    /// Start offset, -1 when unknown.
    pub start_offset: i64,
    /// Terminal records at or after the start offset, -1 when unknown.
    pub delivery_complete_count: i32,
}

/// A write to be made, lent for as long as it takes to encode it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LentWrite<'a> {
    /// Names the write, for [`SharePartition::settle_one`](crate::share_partition::SharePartition::settle_one).
    pub token: WriteToken,
    /// Set if a member waits for it, and a refusal undoes it; otherwise memory keeps the change whatever the answer.
    pub is_awaited: bool,
    /// Key of the state.
    pub key: &'a SharePartitionKey,
    /// Contents of the write.
    pub state: WriteStateRef<'a>,
}

/// A persister that is given the writes of a share partition inside the calls that lead to them.
pub trait WritePersister {
    /// Takes a write; writes of one share partition come in the order in which they were made. The answer is
    /// [`KafkaCode::None`] once the write is as durable as the persister promises, else why it was refused. `None` leaves the
    /// answer for later: it comes by its token, to [`SharePartition::settle_one`](crate::share_partition::SharePartition::settle_one).
    fn take(&mut self, write: LentWrite<'_>) -> Option<KafkaCode>;
}

/// A persister that answers at once (Kafka: `Persister.writeState`, with a future that is complete).
pub trait InlinePersister {
    /// Takes a write, and answers it as [`WritePersister::take`] does.
    fn write_state(&mut self, key: &SharePartitionKey, state: WriteStateRef<'_>) -> KafkaCode;
}

impl<P: InlinePersister> WritePersister for P {
    #[inline]
    fn take(&mut self, write: LentWrite<'_>) -> Option<KafkaCode> {
        Some(self.write_state(write.key, write.state))
    }
}

/// Confirms everything and keeps nothing (Kafka: `NoOpStatePersister`): for simulators, tests and benchmarks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoOpStatePersister;

impl InlinePersister for NoOpStatePersister {
    fn write_state(&mut self, _: &SharePartitionKey, _: WriteStateRef<'_>) -> KafkaCode {
        KafkaCode::None
    }
}
