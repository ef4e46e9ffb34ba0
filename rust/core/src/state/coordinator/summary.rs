//! ReadShareGroupStateSummary (RPC 87).

use super::{CoordinatorError, ShareCoordinator, check};
use crate::ids::SharePartitionKey;
use crate::persister::StateSummary;

impl ShareCoordinator {
    /// Answers a share partition's epochs, start offset and delivery complete count, for lag and administration.
    ///
    /// A share partition without state has the summary of one that has not begun; that is no error. Nobody is fenced,
    /// so the request's leader epoch does not matter.
    ///
    /// # Errors
    /// In this order: malformed request, unknown topic.
    pub fn read_summary(
        &self,
        key: &SharePartitionKey,
        topic_exists: bool,
    ) -> Result<StateSummary, CoordinatorError> {
        check::key(key)?;
        check::topic(topic_exists)?;
        Ok(self.state(key).map_or(
            StateSummary {
                state_epoch: 0,
                leader_epoch: 0,
                start_offset: -1,
                delivery_complete_count: -1,
            },
            |state| StateSummary {
                state_epoch: state.state_epoch,
                leader_epoch: state.leader_epoch,
                start_offset: state.start_offset,
                delivery_complete_count: state.delivery_complete_count,
            },
        ))
    }
}
