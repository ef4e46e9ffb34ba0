//! The only change of the groups (Kafka: `GroupMetadataManager.replay`).

use std::sync::Arc;

use super::ShareGroups;
use super::records::{GroupRecord, GroupValue};

impl ShareGroups {
    /// Applies a record. Every record replays: one for a group or member that is not known makes it known, a deletion of
    /// what is not there changes nothing (KAFKA-19198, KAFKA-19454).
    ///
    /// The latest record of a key counts, whatever stands between it and those of other keys. So a log may be rewritten to
    /// the live records alone, and a part of it that was replayed before may be replayed again.
    pub fn replay(&mut self, record: &GroupRecord) {
        let GroupRecord { group: id, value } = record;
        let group = self.groups.entry(Arc::clone(id)).or_default();
        group.put(value);
        if group.is_gone() {
            self.groups.remove(id);
        }
        match value {
            GroupValue::Member(member, Some(_)) => self.deadlines.add(id, member),
            GroupValue::Member(member, None) => self.deadlines.remove(id, member),
            _ => {}
        }
    }
}
