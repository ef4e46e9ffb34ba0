//! Records that a log must hold so that its replay gives these groups, and no more.

use std::sync::Arc;

use super::ShareGroups;
use super::group::ShareGroup;
use super::records::{GroupRecord, GroupValue};

impl ShareGroups {
    /// The live records: one for each key that has a value, by group, in an order in which Kafka's coordinator can load
    /// them too: members before what they are assigned.
    pub fn live_records(&self) -> impl Iterator<Item = GroupRecord> {
        self.groups.iter().flat_map(|(id, group)| {
            values(group).map(|value| GroupRecord {
                group: Arc::clone(id),
                value,
            })
        })
    }
}

fn values(group: &ShareGroup) -> impl Iterator<Item = GroupValue> {
    let members = group.records.iter().filter_map(|(id, member)| {
        let metadata = member.metadata.clone()?;
        Some(GroupValue::Member(Arc::clone(id), Some(metadata)))
    });
    let metadata = group.metadata.map(|value| GroupValue::Group(Some(value)));
    let target = group
        .target
        .map(|value| GroupValue::TargetAssignment(Some(value)));
    let targets = group.records.iter().filter_map(|(id, member)| {
        let target = member.target.clone()?;
        Some(GroupValue::TargetMember(Arc::clone(id), Some(target)))
    });
    let currents = group.records.iter().filter_map(|(id, member)| {
        let current = member.current.clone()?;
        Some(GroupValue::CurrentMember(Arc::clone(id), Some(current)))
    });
    let partitions = group.state_partitions.clone();
    members
        .chain(metadata)
        .chain(targets)
        .chain(target)
        .chain(currents)
        .chain(partitions.map(|value| GroupValue::StatePartitions(Some(value))))
}
