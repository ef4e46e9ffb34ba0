//! A share partition: it decides who may hold which record of one partition (Kafka: `SharePartition`).
//!
//! It takes no time from a clock, reads no log and writes to no disk. Its methods are of four kinds:
//!
//! * **questions**: [`SharePartition::next_fetch_offset`], [`SharePartition::can_acquire`], [`SharePartition::in_flight`] …;
//! * **commands** of members and operators: [`SharePartition::acquire`], [`SharePartition::acknowledge`],
//!   [`SharePartition::release`], [`SharePartition::configure`], [`SharePartition::fence`];
//! * `handle_…` for **what happened**: a write was answered, time passed, the dead-letter queue is done, the log start moved;
//! * `poll_…` for **what to do next**: a write to make, the time to come back, a record for the dead-letter queue. Poll after
//!   every command and every `handle_…` until there is nothing more. Whoever has a persister that answers at once calls
//!   [`SharePartition::settle`] instead of polling for writes.
//!
//! Every method that takes `now` first lets due locks run out, so a lock ends at its deadline and not at the next poll.
//!
//! Invariants (checked by `SharePartition::check`): the start offset never goes back; `delivery_complete_count` is the
//! number of terminal records at or after the start offset; the next fetch offset is never below the start offset.

mod change;
mod error;
mod records;
mod status;
mod verbs;

pub use change::changes::DeadLetterCause;
pub use change::settle::Settlement;
pub use change::writes::{PendingWrite, WriteAnswer, member_code};
pub use error::{
    AcknowledgeError, AcquireError, CorruptField, InitializeError, RecordStateReason, UnknownToken,
};
pub use records::counters::Counters;
pub use records::inspect::InFlight;
pub use records::window::GapWindow;
pub use status::Status;
pub use verbs::acquire_request::{
    AbortedTransaction, AcquireMode, AcquireRequest, AcquiredRange, ControlType, FetchedBatch,
};
pub use verbs::dead_letter::{DeadLetter, DeadLetterToken};
pub use verbs::initialize::Initialized;
pub use verbs::parts::AcknowledgeBatch;
pub use verbs::transactions::aborted_ranges;

use std::sync::Arc;

use crate::ids::SharePartitionKey;
use crate::partition::in_flight::{InFlightStore, IntervalStore};
use crate::settings::limits::{ConfigError, ShareGroupConfig};
use crate::time::LockTime;
use crate::util::on_demand::OnDemand;
use records::activity::Activity;

/// The state machine of one share partition; see the module. A clone goes its own way: simulators look ahead with it.
#[derive(Clone, Debug)]
pub struct SharePartition<S = IntervalStore> {
    key: SharePartitionKey,
    leader_epoch: i32,
    status: Status,
    /// Shared by the share partitions of a group, if the caller likes.
    config: Arc<ShareGroupConfig>,
    state_epoch: i32,
    start_offset: i64,
    /// Last offset of the window while a batch is in flight; otherwise the offset to fetch next.
    end_offset: i64,
    delivery_complete_count: u64,
    store: S,
    activity: OnDemand<Activity>,
    /// Latest time seen: a clock that goes back does not revive a lock.
    now: LockTime,
}

impl<S: InFlightStore> SharePartition<S> {
    /// A share partition with nothing read yet. `config` may be shared with others.
    ///
    /// # Errors
    /// The first value of `config` that cannot be used.
    pub fn new(
        key: SharePartitionKey,
        leader_epoch: i32,
        config: impl Into<Arc<ShareGroupConfig>>,
    ) -> Result<Self, ConfigError> {
        let config = config.into();
        config.check()?;
        Ok(Self {
            key,
            leader_epoch,
            config,
            status: Status::Empty,
            state_epoch: 0,
            start_offset: 0,
            end_offset: 0,
            delivery_complete_count: 0,
            store: S::default(),
            activity: OnDemand::default(),
            now: LockTime(i64::MIN),
        })
    }

    /// Changes the configuration; it counts from the next use on, locks that run keep their deadline.
    ///
    /// # Errors
    /// The first value that cannot be used; then nothing has changed.
    pub fn configure(
        &mut self,
        config: impl Into<Arc<ShareGroupConfig>>,
    ) -> Result<(), ConfigError> {
        let config = config.into();
        config.check()?;
        self.config = config;
        self.unblock();
        Ok(())
    }

    /// Ends the service of members: another leader or state has taken over (`SharePartition.markFenced`). Writes under way
    /// are still answered. A write that is refused because of that does the same by itself ([`WriteAnswer::fences`]).
    pub const fn fence(&mut self) {
        self.status = Status::Fenced;
    }

    /// The configuration in force.
    #[must_use]
    pub fn config(&self) -> &ShareGroupConfig {
        &self.config
    }

    /// Key of this share partition.
    #[must_use]
    pub const fn key(&self) -> &SharePartitionKey {
        &self.key
    }

    /// Status of the share partition; only an active one gives out records and takes acknowledgements.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.status
    }

    /// Epoch of this leader of the data partition.
    #[must_use]
    pub const fn leader_epoch(&self) -> i32 {
        self.leader_epoch
    }

    /// Epoch of the state that was read.
    #[must_use]
    pub const fn state_epoch(&self) -> i32 {
        self.state_epoch
    }

    /// First offset that may still be delivered (SPSO).
    #[must_use]
    pub const fn start_offset(&self) -> i64 {
        self.start_offset
    }

    /// Kafka's end offset (SPEO): last offset of the window while a batch is in flight, else the offset to fetch next.
    #[must_use]
    pub const fn end_offset(&self) -> i64 {
        self.end_offset
    }

    /// Terminal records at or after the start offset (KIP-1226).
    #[must_use]
    pub const fn delivery_complete_count(&self) -> u64 {
        self.delivery_complete_count
    }

    /// Counters of what has happened since this object was made.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.activity
            .get()
            .map_or_else(Counters::default, |a| a.tally.counters(a.writes.made()))
    }

    /// The in-flight store, for questions.
    #[must_use]
    pub const fn store(&self) -> &S {
        &self.store
    }
}
