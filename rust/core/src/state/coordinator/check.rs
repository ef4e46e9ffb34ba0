//! Checks that verbs share.
//!
//! The order in a verb is the order of precedence (Kafka: `ShareCoordinatorShard.maybeGet…Error`): the form of the
//! request, a key without state, the leader epoch, the state epoch, the topic.

use super::error::{CoordinatorError, Operation, RequestField};
use super::replay::KeyState;
use super::snapshot_policy::Change;
use crate::delivery::RecordState;
use crate::ids::SharePartitionKey;
use crate::persister::{MAX_STATE_BATCHES, MAX_STATE_BATCHES_PER_WRITE, WriteStateRef};
use crate::state::group_offset::ShareGroupOffset;
use crate::state::state_batch::StateBatch;

type Checked = Result<(), CoordinatorError>;

const fn invalid(field: RequestField, value: i64) -> CoordinatorError {
    CoordinatorError::InvalidRequest {
        field,
        index: None,
        value,
    }
}

fn at_least(min: i64, field: RequestField, value: i64) -> Checked {
    if value < min {
        return Err(invalid(field, value));
    }
    Ok(())
}

pub(super) fn key(key: &SharePartitionKey) -> Checked {
    key.check().map_err(CoordinatorError::from)
}

/// Leader epochs are not negative (KAFKA-20743); until then -1 skipped the fence.
pub(super) fn leader_epoch(epoch: i32) -> Checked {
    at_least(0, RequestField::LeaderEpoch, i64::from(epoch))
}

/// State epochs are not negative (KAFKA-20743); until then -1 skipped the fence.
pub(super) fn state_epoch(epoch: i32) -> Checked {
    at_least(0, RequestField::StateEpoch, i64::from(epoch))
}

pub(super) fn start_offset(offset: i64) -> Checked {
    at_least(-1, RequestField::StartOffset, offset)
}

/// The form of a write. Kafka checks the epochs only and lets its merge fail on an inverted batch (M1).
pub(super) fn write(request: WriteStateRef<'_>) -> Checked {
    leader_epoch(request.leader_epoch)?;
    state_epoch(request.state_epoch)?;
    start_offset(request.start_offset)?;
    let count = i64::from(request.delivery_complete_count);
    at_least(-1, RequestField::DeliveryCompleteCount, count)?;
    let asked = request.state_batches.len();
    if asked > MAX_STATE_BATCHES_PER_WRITE {
        return Err(CoordinatorError::TooManyStateBatches {
            asked,
            allowed: MAX_STATE_BATCHES_PER_WRITE,
        });
    }
    for (index, batch) in request.state_batches.iter().enumerate() {
        if let Some((field, value)) = malformed(batch) {
            return Err(CoordinatorError::InvalidRequest {
                field,
                index: Some(index),
                value,
            });
        }
    }
    Ok(())
}

/// Finds the field of a batch that is wrong. An acquired record is never persisted, and a state that is not known
/// cannot have been decided by the share partition; such ids are carried along in records only.
const fn malformed(batch: &StateBatch) -> Option<(RequestField, i64)> {
    if batch.last_offset < batch.first_offset {
        return Some((RequestField::LastOffset, batch.last_offset));
    }
    if matches!(
        RecordState::from_id(batch.delivery_state),
        None | Some(RecordState::Acquired)
    ) {
        return Some((RequestField::DeliveryState, batch.delivery_state as i64));
    }
    if batch.delivery_count < 0 {
        return Some((RequestField::DeliveryCount, batch.delivery_count as i64));
    }
    None
}

/// The key has state.
pub(super) fn initialized<'a>(
    known: Option<(&'a KeyState, &'a ShareGroupOffset)>,
    operation: Operation,
) -> Result<(&'a KeyState, &'a ShareGroupOffset), CoordinatorError> {
    known.ok_or(CoordinatorError::Uninitialized { operation })
}

/// No newer leader is known.
pub(super) fn leader_not_fenced(known: &KeyState, requested: i32) -> Checked {
    match known.leader_epoch {
        Some(current) if requested < current => {
            Err(CoordinatorError::FencedLeaderEpoch { requested, current })
        }
        _ => Ok(()),
    }
}

/// No newer state is known.
pub(super) fn state_not_fenced(known: &KeyState, requested: i32) -> Checked {
    match known.state_epoch {
        Some(current) if requested < current => {
            Err(CoordinatorError::FencedStateEpoch { requested, current })
        }
        _ => Ok(()),
    }
}

/// The state with the write still fits into a snapshot.
pub(super) fn not_full(state: &ShareGroupOffset, change: &Change<'_>) -> Checked {
    let allowed = MAX_STATE_BATCHES;
    state
        .state_batches
        .fits(change.state_batches, change.start_offset, allowed)
        .map_err(|batches| CoordinatorError::StateFull { batches, allowed })
}

pub(super) fn topic(exists: bool) -> Checked {
    if exists {
        Ok(())
    } else {
        Err(CoordinatorError::UnknownTopicOrPartition)
    }
}
