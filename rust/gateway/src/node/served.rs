//! A share partition in memory, with those that wait for it.

use std::collections::{BTreeMap, HashMap};

use share_state_core::ids::QuickHash;
use share_state_core::persister::WriteToken;
use share_state_core::share_partition::SharePartition;
use share_state_core::share_session::{ConnectionId, TopicIdPartition};
use share_state_core::time::LockTime;

use super::batches::Batches;
use super::names::{RequestId, SourceKey, Waiter};
use super::timers::TimerId;

/// Acknowledgements that wait for the state of their share partition.
#[derive(Debug)]
pub(super) struct Deferred {
    pub waiter: Waiter,
    pub batches: Batches,
}

/// Progress of a share partition to its service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Wait for the writes of the one before it, which was dropped while they were under way, or for the end of holds on its
    /// partition. The state is read after them.
    Following,
    /// Read of the state.
    Reading,
    /// Search for the start offset upstream.
    Finding,
    /// Write of the start offset that was found.
    Keeping,
    /// Service.
    Ready,
    /// End of the service; the code for those that still wait for it, 0 if it is to be loaded again.
    Over(i16),
}

/// A share partition in memory.
#[derive(Debug)]
pub(super) struct Served {
    pub id: TopicIdPartition,
    pub engine: SharePartition,
    /// Ring that its records come from.
    pub source: SourceKey,
    pub stage: Stage,
    /// Mark of a load that failed: it never served, and another try would mostly fail as well.
    pub is_failed: bool,
    /// Fetches that wait for something to happen here, oldest first.
    pub waiting: BTreeMap<RequestId, ConnectionId>,
    /// Mark of one that is listed among those at which the fetches that wait are to try again.
    pub is_woken: bool,
    /// Acknowledgements that wait for their write.
    pub settling: HashMap<WriteToken, Waiter, QuickHash>,
    /// Acknowledgements that wait until it is ready; empty then.
    pub deferred: Vec<Deferred>,
    /// Writes of the round that is under way.
    pub in_round: usize,
    /// Mark of one that is listed among those whose writes go with the next round.
    pub is_dirty: bool,
    /// Timer of its earliest lock.
    pub timer: Option<TimerId>,
    /// Time of the last request that named it.
    pub used_at: LockTime,
}

impl Served {
    /// Returns `true` if it serves.
    pub fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }

    /// Returns `true` if a member could be given a record.
    pub fn can_acquire(&self) -> bool {
        self.is_ready() && self.engine.can_acquire()
    }

    /// Returns `true` if it serves no more.
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over(_))
    }

    /// Returns `true` if it is over and the next request can have it loaded again.
    pub fn is_gone(&self) -> bool {
        self.is_over() && !self.is_failed
    }

    /// The code for those that wait for it, once it serves no more; 0 where it may be asked for again.
    pub const fn error(&self) -> i16 {
        match self.stage {
            Stage::Over(code) => code,
            _ => 0,
        }
    }

    /// Returns `true` if a write of it may still change the state: it is in a round, or goes with one to come.
    pub fn has_writes(&self) -> bool {
        self.in_round > 0 || self.engine.writes_under_way() > 0
    }

    /// Returns `true` if nobody refers to it any more.
    pub fn is_abandoned(&self) -> bool {
        self.is_over()
            && self.waiting.is_empty()
            && self.settling.is_empty()
            && self.deferred.is_empty()
            && self.in_round == 0
            && !self.is_dirty
    }
}
