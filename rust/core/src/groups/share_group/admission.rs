//! A heartbeat that is let in: what the member says, and which group epoch follows from it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::error::GroupError;
use super::group::{Member, ShareGroup, Subscribed};
use super::records::{MemberMetadata, StatePartitions};
use super::request::{Heartbeat, JOIN_EPOCH};
use super::{ShareGroups, check};

/// A heartbeat that was let in.
pub(super) struct Admitted<'a> {
    /// The group, or what stands for one that this member makes.
    pub group: &'a ShareGroup,
    /// The member's records until now.
    pub member: Option<&'a Member>,
    /// Metadata of the member from now on.
    pub metadata: MemberMetadata,
    /// Set if it says something new, so that there is a record to write.
    pub is_news: bool,
    /// Set if its topics are new, as they are for a member that joins.
    pub topics_changed: bool,
    /// Names of the topics that some member subscribes to from now on, ascending.
    pub subscribed: Subscribed<'a>,
    /// Set if nothing can be due, because nothing has changed since there was nothing.
    pub has_nothing_due: bool,
}

/// Changes that are due with a heartbeat.
pub(super) struct Due {
    /// Group epoch from now on.
    pub epoch: i32,
    /// Set if that is a new one.
    pub is_bump: bool,
    /// Hash of the subscribed topics' metadata.
    pub metadata_hash: i64,
}

impl ShareGroups {
    /// Checks a heartbeat that does not leave, in Kafka's order: form, group, room, member, epoch.
    pub(super) fn admit<'a>(
        &'a self,
        request: &'a Heartbeat<'_>,
    ) -> Result<Admitted<'a>, GroupError> {
        check::heartbeat(request)?;
        let group = self.group(request.group);
        let known = group.member(request.member);
        if known.is_none() && request.member_epoch != JOIN_EPOCH && group.is_empty() {
            return Err(unknown(request));
        }
        // Before the member is looked up, as in Kafka: an unknown one learns that there is no room.
        if known.is_none() && i64::try_from(group.len()).is_ok_and(|size| size >= self.max_size) {
            return Err(GroupError::GroupMaxSizeReached { max: self.max_size });
        }
        if request.member_epoch != JOIN_EPOCH {
            let (member, _) = known.ok_or_else(|| unknown(request))?;
            check_epoch(request.member_epoch, member)?;
        }
        let old = known.map(|(_, metadata)| metadata);
        let metadata = updated(old, request);
        let topics_changed =
            old.is_none_or(|old| old.subscribed_topics != metadata.subscribed_topics);
        let subscribed = if topics_changed {
            exchanged(group, old, request)
        } else {
            group.subscribed()
        };
        Ok(Admitted {
            group,
            member: known.map(|(member, _)| member),
            is_news: old != Some(&metadata),
            topics_changed,
            subscribed,
            has_nothing_due: !topics_changed && group.nothing_due_at == Some(self.topics_version),
            metadata,
        })
    }

    /// Returns the group epoch that a heartbeat ends with, if these share partitions have state then.
    ///
    /// A new one is due when topics are subscribed or given up, when the metadata of subscribed topics has changed, and,
    /// unless an assignment is due anyway, when the targets do not hold just what can be assigned.
    pub(super) fn due(
        &self,
        admitted: &Admitted<'_>,
        partitions: &StatePartitions,
    ) -> Result<Due, GroupError> {
        let group = admitted.group;
        let epoch = group.epoch();
        if admitted.has_nothing_due {
            return Ok(Due {
                epoch,
                is_bump: false,
                metadata_hash: group.metadata_hash(),
            });
        }
        let metadata_hash = self
            .topics
            .metadata_hash(admitted.subscribed.iter().copied());
        let is_bump = admitted.topics_changed
            || metadata_hash != group.metadata_hash()
            || (!group.is_pending() && !self.is_assigned(group, &admitted.subscribed, partitions));
        Ok(Due {
            epoch: if is_bump { next_epoch(epoch)? } else { epoch },
            is_bump,
            metadata_hash,
        })
    }
}

/// The epoch after this one.
pub(super) fn next_epoch(epoch: i32) -> Result<i32, GroupError> {
    epoch.checked_add(1).ok_or(GroupError::EpochEnd)
}

/// A group that was lost answers like one that the member is not in: Kafka's code for it is fatal to clients, with this one
/// they join again.
fn unknown(request: &Heartbeat<'_>) -> GroupError {
    GroupError::UnknownMemberId {
        group: Arc::from(request.group),
        member: Arc::from(request.member),
    }
}

fn check_epoch(requested: i32, member: &Member) -> Result<(), GroupError> {
    let (current, previous) = member.current.as_ref().map_or((0, -1), |current| {
        (current.member_epoch, current.previous_member_epoch)
    });
    if requested == current || (requested < current && requested == previous) {
        return Ok(());
    }
    Err(GroupError::FencedMemberEpoch {
        requested,
        current,
        previous,
    })
}

/// Returns the metadata of a member after its heartbeat; what the heartbeat does not say stays.
fn updated(old: Option<&MemberMetadata>, request: &Heartbeat<'_>) -> MemberMetadata {
    // Values that stay are shared, not copied.
    let text = |old: Option<&Arc<str>>, new: &str| match old {
        Some(old) if **old == *new => Arc::clone(old),
        _ => Arc::from(new),
    };
    let rack_id = match (request.rack, old.and_then(|old| old.rack_id.as_ref())) {
        (Some(rack), old) => Some(text(old, rack)),
        (None, old) => old.cloned(),
    };
    let subscribed_topics = match (request.topics, old) {
        (Some(topics), _) => {
            let names: BTreeSet<&str> = topics.iter().copied().collect();
            names.into_iter().map(Arc::from).collect()
        }
        (None, Some(old)) => old.subscribed_topics.clone(),
        (None, None) => Vec::new(),
    };
    MemberMetadata {
        rack_id,
        client_id: text(old.map(|old| &old.client_id), request.client_id),
        client_host: text(old.map(|old| &old.client_host), request.client_host),
        subscribed_topics,
    }
}

/// The subscribed names once the member's `old` topics are replaced by those it names.
fn exchanged<'a>(
    group: &'a ShareGroup,
    old: Option<&MemberMetadata>,
    request: &'a Heartbeat<'_>,
) -> Subscribed<'a> {
    let given_up: BTreeSet<&str> = old
        .into_iter()
        .flat_map(|old| old.subscribed_topics.iter().map(|name| &**name))
        .collect();
    let kept = group
        .subscribers()
        .iter()
        .filter(|(name, count)| **count > 1 || !given_up.contains(&***name))
        .map(|(name, _)| &**name);
    let new = request.topics.unwrap_or_default();
    kept.chain(new.iter().copied()).collect()
}
