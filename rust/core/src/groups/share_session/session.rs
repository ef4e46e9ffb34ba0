//! Share session of a member.

use super::partitions::SessionPartitions;
use super::{ConnectionId, TopicIdPartition};

/// The session of a member.
#[derive(Debug)]
pub(super) struct Session {
    /// Differs for any two sessions ever opened, those of one member too.
    pub serial: u64,
    /// The connection that opened it.
    pub connection: ConnectionId,
    /// The epoch that the next request has to carry, from 1 on.
    pub next_epoch: i32,
    pub partitions: SessionPartitions,
}

impl Session {
    /// Expects the next epoch from here on.
    pub fn advance(&mut self) {
        self.next_epoch = next_epoch(self.next_epoch);
    }

    pub fn check(&self) {
        assert!(self.next_epoch >= 1);
        self.partitions.check();
    }
}

/// The epoch that follows: 2147483647 is followed by 1, as 0 would open a session (`ShareRequestMetadata.nextEpoch`).
#[must_use]
pub const fn next_epoch(epoch: i32) -> i32 {
    match epoch.checked_add(1) {
        Some(next) => next,
        None => 1,
    }
}

/// A session to look at.
#[derive(Clone, Copy, Debug)]
pub struct SessionView<'a> {
    /// Id of the share group.
    pub group: &'a str,
    /// Id of the member.
    pub member: &'a str,
    pub(super) session: &'a Session,
}

impl<'a> SessionView<'a> {
    /// The epoch that the next request has to carry.
    #[must_use]
    pub fn next_epoch(&self) -> i32 {
        self.session.next_epoch
    }

    /// The connection that opened it.
    #[must_use]
    pub fn connection(&self) -> ConnectionId {
        self.session.connection
    }

    /// The partitions in order, and whether the next answer has to list each.
    pub fn partitions(&self) -> impl Iterator<Item = (TopicIdPartition, bool)> + use<'a> {
        self.session.partitions.iter()
    }
}
