//! Every invariant of the share groups, checked and named.

use std::collections::BTreeMap;

use super::ShareGroups;
use super::group::ShareGroup;
use crate::groups::assignment::Assignment;

impl ShareGroups {
    /// Checks the invariants of groups that came to be by verbs of this machine. Costs a walk over all of them: for tests and
    /// for those who doubt.
    ///
    /// # Errors
    /// The first invariant that is broken, with the facts.
    pub fn check(&self) -> Result<(), String> {
        let mut members = 0;
        for (id, group) in &self.groups {
            check_counts(group).map_err(|broken| format!("{id}: {broken}"))?;
            check_epochs(group).map_err(|broken| format!("{id}: {broken}"))?;
            self.check_subscriptions(group)
                .map_err(|broken| format!("{id}: {broken}"))?;
            members += group.len();
        }
        if self.deadlines.len() != members {
            let timed = self.deadlines.len();
            return Err(format!("{timed} sessions are timed of {members} members"));
        }
        Ok(())
    }

    fn check_subscriptions(&self, group: &ShareGroup) -> Result<(), String> {
        for (id, member, metadata) in group.members() {
            let current = member.current.as_ref();
            for (topic_id, _) in current.iter().flat_map(|current| current.assigned.topics()) {
                // A topic that is gone stays until the member's next heartbeat.
                if let Some((name, _)) = self.topics.by_id(topic_id)
                    && metadata.subscribed_topics.binary_search(name).is_err()
                {
                    return Err(format!(
                        "{id} was assigned {name} and does not subscribe to it"
                    ));
                }
            }
        }
        Ok(())
    }
}

fn check_counts(group: &ShareGroup) -> Result<(), String> {
    let mut subscribers = BTreeMap::new();
    let mut assigned = 0;
    let mut members = 0;
    for (_, _, metadata) in group.members() {
        members += 1;
        for name in &metadata.subscribed_topics {
            *subscribers.entry(name.clone()).or_insert(0) += 1;
        }
    }
    let targets = group
        .records
        .values()
        .filter_map(|member| member.target.as_ref());
    let mut partitions: Vec<_> = targets.flat_map(Assignment::partitions).collect();
    partitions.sort_unstable();
    partitions.dedup();
    for (topic_id, partition) in &partitions {
        assigned += usize::from(group.is_assigned(*topic_id, *partition));
    }
    if members != group.len() {
        return Err(format!("{members} members are counted as {}", group.len()));
    }
    if subscribers != *group.subscribers() {
        return Err(format!(
            "{subscribers:?} are counted as {:?}",
            group.subscribers()
        ));
    }
    if assigned != partitions.len() || assigned != group.assigned_partitions() {
        return Err(format!(
            "{partitions:?} are counted as {}",
            group.assigned_partitions()
        ));
    }
    Ok(())
}

fn check_epochs(group: &ShareGroup) -> Result<(), String> {
    let (epoch, assignment_epoch) = (group.epoch(), group.assignment_epoch());
    if assignment_epoch > epoch {
        return Err(format!(
            "the assignment of epoch {assignment_epoch} is ahead of {epoch}"
        ));
    }
    if group.is_empty() && assignment_epoch != epoch {
        return Err(format!("nobody waits for the assignment of epoch {epoch}"));
    }
    for (id, member) in &group.records {
        if member.metadata.is_none() {
            return Err(format!("{id} is no member and has records"));
        }
        if let Some(current) = &member.current
            && current.member_epoch > assignment_epoch
        {
            return Err(format!("{id} is ahead of {assignment_epoch}: {current:?}"));
        }
    }
    Ok(())
}
