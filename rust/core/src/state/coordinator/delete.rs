//! DeleteShareGroupState (RPC 86).

use super::{CoordinatorError, Decision, ShareCoordinator, check};
use crate::ids::SharePartitionKey;
use crate::records::{ShareRecord, ShareValue};

impl ShareCoordinator {
    /// Forgets a share partition. One without state is already forgotten: no record, no error.
    ///
    /// # Errors
    /// In this order: malformed request, unknown topic (also for a topic that was deleted meanwhile, whose keys go by
    /// [`ShareCoordinator::decide_topics_deleted`]).
    pub fn decide_delete(
        &self,
        key: &SharePartitionKey,
        topic_exists: bool,
    ) -> Result<Decision<()>, CoordinatorError> {
        check::key(key)?;
        check::topic(topic_exists)?;
        let known = self.known(key).is_some();
        Ok(Decision {
            records: known.then(|| tombstone(key)).into_iter().collect(),
            answer: (),
        })
    }
}

pub(super) fn tombstone(key: &SharePartitionKey) -> ShareRecord {
    ShareRecord {
        key: key.clone(),
        value: ShareValue::Tombstone,
    }
}
