//! An admitted ShareFetch request: what to fetch, and what its answer has to be checked against.

use std::sync::Arc;

use super::{ShareSessionKey, TopicIdPartition};

/// An admitted ShareFetch request (Kafka: `ShareSessionContext`, `FinalContext`).
#[derive(Clone, Debug)]
pub struct ShareFetchContext {
    pub(super) key: ShareSessionKey,
    pub(super) kind: Kind,
    /// The partitions to fetch, before rotation.
    pub(super) partitions: Arc<[TopicIdPartition]>,
    /// Index of the one that comes first.
    pub(super) first: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Epoch 0.
    Full,
    /// A later epoch.
    Incremental {
        /// Serial number of the session.
        serial: u64,
        /// The epoch that the session expects as long as no other request is admitted.
        next_epoch: i32,
    },
    /// Epoch −1.
    Final,
}

impl ShareFetchContext {
    /// Key of the session: the group and the member of the request.
    #[must_use]
    pub fn key(&self) -> &ShareSessionKey {
        &self.key
    }

    /// Returns `true` if the request has opened the session (epoch 0): its answer lists everything.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.kind == Kind::Full
    }

    /// Returns `true` if the request ends the session (epoch −1): nothing is fetched, and whoever has answered calls
    /// [`super::ShareSessions::close`].
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.kind == Kind::Final
    }

    /// The partitions to fetch, in the order in which they get their share of the bytes and records
    /// (Kafka: `PartitionRotateStrategy`, round-robin by the epoch).
    pub fn partitions(&self) -> impl ExactSizeIterator<Item = TopicIdPartition> {
        let (all, first) = (&self.partitions, self.first);
        (0..all.len()).map(move |at| {
            let at = first + at;
            all[if at < all.len() { at } else { at - all.len() }]
        })
    }
}
