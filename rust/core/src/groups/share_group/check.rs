//! The form of requests (Kafka: `GroupCoordinatorService.throwIf…IsInvalid`).

use super::error::GroupError;
use super::request::{Heartbeat, JOIN_EPOCH, LEAVE_EPOCH};
use crate::ids::TopicId;

/// Longest member id, in characters.
pub const MAX_MEMBER_ID_LENGTH: usize = 36;

/// Longest text that a record can hold, in bytes of UTF-8.
pub const MAX_TEXT_BYTES: usize = i16::MAX as usize;

type Checked = Result<(), GroupError>;

pub(super) fn text(field: &'static str, text: &str) -> Checked {
    if text.len() > MAX_TEXT_BYTES {
        return Err(GroupError::TooLong {
            field,
            length: text.len(),
            max: MAX_TEXT_BYTES,
        });
    }
    Ok(())
}

fn named(field: &'static str, name: &str) -> Checked {
    // As Java trims: every character up to the blank.
    if name.chars().all(|character| character <= ' ') {
        return Err(GroupError::Empty { field });
    }
    text(field, name)
}

pub(super) fn heartbeat(request: &Heartbeat<'_>) -> Checked {
    named("MemberId", request.member)?;
    named("GroupId", request.group)?;
    if let Some(rack) = request.rack {
        named("RackId", rack)?;
    }
    let length = request.member.chars().count();
    if length > MAX_MEMBER_ID_LENGTH {
        return Err(GroupError::TooLong {
            field: "MemberId",
            length,
            max: MAX_MEMBER_ID_LENGTH,
        });
    }
    if request.member_epoch == JOIN_EPOCH && request.topics.is_none_or(<[&str]>::is_empty) {
        return Err(GroupError::NoTopics);
    }
    if request.member_epoch < LEAVE_EPOCH {
        return Err(GroupError::MemberEpoch {
            epoch: request.member_epoch,
        });
    }
    text("ClientId", request.client_id)?;
    text("ClientHost", request.client_host)?;
    for topic in request.topics.unwrap_or_default() {
        text("SubscribedTopicNames", topic)?;
    }
    Ok(())
}

/// A group id where an empty one has a code of its own.
pub(super) fn group_id(id: &str) -> Checked {
    if id.is_empty() {
        return Err(GroupError::InvalidGroupId);
    }
    text("GroupId", id)
}

pub(super) fn partition(topic_id: TopicId, name: &str, partition: i32) -> Checked {
    if topic_id == TopicId::ZERO || partition < 0 {
        return Err(GroupError::Partition { partition });
    }
    named("TopicName", name)
}
