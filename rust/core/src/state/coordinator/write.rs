//! WriteShareGroupState (RPC 85).

use super::snapshot_policy::Change;
use super::{CoordinatorError, Decision, Operation, ShareCoordinator, check};
use crate::ids::SharePartitionKey;
use crate::persister::WriteStateRef;
use crate::state::group_offset::ShareGroupOffset;
use crate::time::WallTime;

impl ShareCoordinator {
    /// Merges what a leader says has changed.
    ///
    /// Writes may arrive late, doubled or out of order: neither the start offset nor the delivery complete count goes
    /// back (#23074, #23112), and the merge of the batches does not mind. A write raises no epoch: only Initialize sets
    /// the state epoch, only Read raises the leader epoch (KAFKA-19456).
    ///
    /// # Errors
    /// In this order: malformed request, no state, fenced leader epoch, fenced state epoch, unknown topic, a state that would be
    /// too large for a snapshot.
    pub fn decide_write<'a>(
        &self,
        key: &SharePartitionKey,
        request: impl Into<WriteStateRef<'a>>,
        topic_exists: bool,
        now: WallTime,
    ) -> Result<Decision<()>, CoordinatorError> {
        let request = request.into();
        Self::check_write(key, request)?;
        let (known, state) = check::initialized(self.known(key), Operation::Write)?;
        check::leader_not_fenced(known, request.leader_epoch)?;
        check::state_not_fenced(known, request.state_epoch)?;
        check::topic(topic_exists)?;

        let change = Change {
            leader_epoch: state.leader_epoch,
            start_offset: request.start_offset.max(state.start_offset),
            delivery_complete_count: delivery_complete_count(request, state),
            state_batches: request.state_batches,
        };
        check::not_full(state, &change)?;
        Ok(Decision {
            records: vec![self.record(key, known, state, change, now)],
            answer: (),
        })
    }

    /// Checks the form of a write, as [`Self::decide_write`] does first: a client need not send what every coordinator
    /// refuses.
    ///
    /// # Errors
    /// The key or the request is malformed, or holds too many state batches.
    pub fn check_write<'a>(
        key: &SharePartitionKey,
        request: impl Into<WriteStateRef<'a>>,
    ) -> Result<(), CoordinatorError> {
        check::key(key)?;
        check::write(request.into())
    }
}

/// The count belongs to a start offset: that of the later start offset stands, at the same one the greater.
fn delivery_complete_count(request: WriteStateRef<'_>, state: &ShareGroupOffset) -> i32 {
    let (asked, stored) = (
        request.delivery_complete_count,
        state.delivery_complete_count,
    );
    match request.start_offset.cmp(&state.start_offset) {
        core::cmp::Ordering::Less => stored,
        core::cmp::Ordering::Equal => asked.max(stored),
        core::cmp::Ordering::Greater => asked,
    }
}
