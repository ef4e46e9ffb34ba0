//! Logs that were cut upstream: nobody sees an old state until the states are those of the new log.

use share_state_core::kafka_code::KafkaCode;
use share_state_core::share_session::TopicIdPartition;
use share_state_core::time::LockTime;

use super::Node;
use super::served::{Served, Stage};

impl Node {
    /// Takes note that the log of a partition ends at `offset` and that its states are about to be changed. Share partitions whose
    /// window reaches it are dropped, and so are those whose load is under way, which may have seen either state. Until
    /// [`Self::let_go`] none of the partition is loaded. Each call needs one of that.
    pub fn truncated(&mut self, id: TopicIdPartition, offset: i64, now: LockTime) {
        self.partitions.hold(id);
        for served in self.partitions.listed_at(id) {
            let is_touched = |served: &Served| match served.stage {
                // The start offset is not after the end.
                Stage::Ready => served.engine.end_offset() >= offset,
                Stage::Following => false,
                _ => true,
            };
            if self.partitions.get(served).is_some_and(is_touched) {
                self.drop_served(served, KafkaCode::None.code());
            }
        }
        self.run(now);
    }

    /// Takes note that the states of a partition were changed, or could not be, and has those loaded that are asked for.
    pub fn let_go(&mut self, id: TopicIdPartition, now: LockTime) {
        if !self.partitions.let_go(id) {
            return;
        }
        for served in self.partitions.listed_at(id) {
            if self.partitions.may_load(served) {
                self.begin_load(served);
            }
        }
        self.run(now);
    }
}
