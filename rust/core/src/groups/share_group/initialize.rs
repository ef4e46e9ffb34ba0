//! Share partitions that need state before they can be assigned.

use super::admission::Admitted;
use super::request::{Heartbeat, LEAVE_EPOCH};
use super::{GroupError, ShareGroups};
use crate::ids::TopicId;

/// Start offset of a share partition of a topic that the group has not consumed before: `share.auto.offset.reset` decides.
const UNRESOLVED: i64 = -1;
/// Start offset of a new partition of a topic that the group consumes already: its beginning, or what was written
/// before it was noticed would be lost (KAFKA-20742).
const BEGINNING: i64 = 0;

/// A share partition to be initialised (InitializeShareGroupState, RPC 83).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uninitialized {
    /// Id of the topic.
    pub topic_id: TopicId,
    /// Partition of the topic.
    pub partition: i32,
    /// Epoch of the new state: the group epoch that the heartbeat leads to.
    pub state_epoch: i32,
    /// Start offset.
    pub start_offset: i64,
}

impl ShareGroups {
    /// Returns what a caller initialises before it lets this heartbeat in: the partitions of subscribed topics that
    /// have no state. Nothing for a heartbeat that will be refused.
    ///
    /// A topic that is only being initialised starts where a new one does: that a start of 0 might follow an initialisation
    /// that was never seen through is Kafka's, and skips no record but delivers old ones.
    #[must_use]
    pub fn to_initialize(&self, request: &Heartbeat<'_>) -> Vec<Uninitialized> {
        if request.member_epoch == LEAVE_EPOCH {
            return Vec::new();
        }
        self.admit(request)
            .and_then(|admitted| self.uninitialized(&admitted))
            .unwrap_or_default()
    }

    fn uninitialized(&self, admitted: &Admitted<'_>) -> Result<Vec<Uninitialized>, GroupError> {
        if admitted.has_nothing_due {
            return Ok(Vec::new());
        }
        let known = admitted.group.state_partitions();
        let mut missing: Vec<_> = self
            .without_state(&admitted.subscribed, known)
            .map(|(topic_id, partition, is_known)| Uninitialized {
                topic_id,
                partition,
                state_epoch: 0,
                start_offset: if is_known { BEGINNING } else { UNRESOLVED },
            })
            .collect();
        if missing.is_empty() {
            return Ok(missing);
        }
        let mut then = known.clone();
        then.initialize(missing.iter().filter_map(|new| {
            let (name, _) = self.topics.by_id(new.topic_id)?;
            Some((new.topic_id, name, new.partition))
        }));
        let state_epoch = self.due(admitted, &then)?.epoch;
        for new in &mut missing {
            new.state_epoch = state_epoch;
        }
        Ok(missing)
    }
}
