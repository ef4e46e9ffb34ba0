//! Names by which the parts of a node refer to each other.

use share_state_core::limits::IsolationLevel;
use share_state_core::share_session::{ConnectionId, TopicIdPartition};

/// Number of a share partition in memory. None is used twice, so the answer to a read of one that was dropped meanwhile reaches
/// nobody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServedId(pub u64);

/// Names a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceKey {
    /// The partition upstream.
    pub id: TopicIdPartition,
    /// Isolation level at which it is read.
    pub isolation: IsolationLevel,
}

/// Number of a request, of any connection: rises with each, so it tells the requests of one connection apart, and which of two
/// waits longer.
pub(super) type RequestId = u64;

/// Number of a request to keep a start offset, by which its outcome is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeepTicket(pub u64);

/// An outcome that a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiter {
    /// The connection of the request.
    pub connection: ConnectionId,
    /// The request.
    pub request: RequestId,
    /// Index of the outcome in the request.
    pub outcome: usize,
}

impl SourceKey {
    /// The same as a key of a table.
    pub(super) fn place(self) -> (TopicIdPartition, bool) {
        (self.id, self.isolation == IsolationLevel::ReadCommitted)
    }

    /// The name of such a key.
    pub(super) const fn of((id, is_committed): (TopicIdPartition, bool)) -> Self {
        let isolation = if is_committed {
            IsolationLevel::ReadCommitted
        } else {
            IsolationLevel::ReadUncommitted
        };
        Self { id, isolation }
    }
}
