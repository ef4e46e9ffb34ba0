//! Bytes of the control records. The key is that of every control record of Kafka: `version i16 · type i16`.

use share_state_core::ids::MAX_GROUP_ID_BYTES;

use super::{ControlBody, ControlRecord, SHARE_CHECKPOINT, SHARE_DELTA};
use crate::cursor::{Reader, write_group_id};
use crate::error::DraftError;
use crate::states::{read_states, write_states};

/// The bytes of a record's key.
#[must_use]
pub fn encode_key(record: &ControlRecord) -> [u8; 4] {
    let control_type = match record.body {
        ControlBody::Checkpoint { .. } => SHARE_CHECKPOINT,
        ControlBody::Delta { .. } => SHARE_DELTA,
    };
    let [high, low] = control_type.to_be_bytes();
    [0, 0, high, low]
}

/// The bytes of a record's value.
///
/// # Errors
/// The group id is empty or longer than 32,767 bytes, or there are more states than an `i32` counts.
pub fn encode_value(record: &ControlRecord) -> Result<Vec<u8>, DraftError> {
    let mut out = Vec::with_capacity(2 + record.group.len().min(MAX_GROUP_ID_BYTES) + 4 + 16);
    write_group_id(&mut out, &record.group)?;
    out.extend_from_slice(&record.checkpoint_epoch.to_be_bytes());
    match &record.body {
        ControlBody::Checkpoint {
            start_offset,
            end_offset,
            states,
        } => {
            out.extend_from_slice(&start_offset.to_be_bytes());
            out.extend_from_slice(&end_offset.to_be_bytes());
            write_states(&mut out, states)?;
        }
        ControlBody::Delta { states } => write_states(&mut out, states)?,
    }
    Ok(out)
}

/// Reads a control record; `None` for another type, such as the end of a transaction, whose value stays unread.
///
/// # Errors
/// Any departure from the format.
pub fn decode(key: &[u8], value: &[u8]) -> Result<Option<ControlRecord>, DraftError> {
    let mut r = Reader::new(key);
    r.version()?;
    let control_type = r.i16("Type")?;
    r.finish()?;
    if !matches!(control_type, SHARE_CHECKPOINT | SHARE_DELTA) {
        return Ok(None);
    }
    let mut r = Reader::new(value);
    let group = r.group_id()?.to_owned();
    let checkpoint_epoch = r.u32("CheckpointEpoch")?;
    let body = if control_type == SHARE_CHECKPOINT {
        ControlBody::Checkpoint {
            start_offset: r.i64("StartOffset")?,
            end_offset: r.i64("EndOffset")?,
            states: read_states(&mut r)?,
        }
    } else {
        ControlBody::Delta {
            states: read_states(&mut r)?,
        }
    };
    r.finish()?;
    Ok(Some(ControlRecord {
        group,
        checkpoint_epoch,
        body,
    }))
}
