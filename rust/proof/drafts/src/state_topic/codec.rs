//! Values: `state epoch u32 · checkpoint epoch · start offset i64 · states`.

use super::{StateRecord, StateValue, decode_key};
use crate::cursor::Reader;
use crate::error::DraftError;
use crate::states::{read_states, write_states};

/// Width of the checkpoint epoch, which grew between two revisions of the draft. Nothing in a record tells which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointEpochWidth {
    /// `uint16`, the older text.
    U16,
    /// `uint32`, the later text.
    U32,
}

impl CheckpointEpochWidth {
    /// The last epoch that fits.
    #[must_use]
    pub const fn last_epoch(self) -> u32 {
        match self {
            Self::U16 => u16::MAX as u32,
            Self::U32 => u32::MAX,
        }
    }
}

/// The bytes of a value.
///
/// # Errors
/// The checkpoint epoch does not fit its width, or there are more states than an `i32` counts.
pub fn encode_value(
    value: &StateValue,
    width: CheckpointEpochWidth,
) -> Result<Vec<u8>, DraftError> {
    let mut out = Vec::with_capacity(4 + 4 + 8);
    out.extend_from_slice(&value.state_epoch.to_be_bytes());
    match width {
        CheckpointEpochWidth::U16 => {
            let epoch = u16::try_from(value.checkpoint_epoch);
            let epoch = epoch.map_err(|_| Reader::new(&[]).error("CheckpointEpoch"))?;
            out.extend_from_slice(&epoch.to_be_bytes());
        }
        CheckpointEpochWidth::U32 => out.extend_from_slice(&value.checkpoint_epoch.to_be_bytes()),
    }
    out.extend_from_slice(&value.start_offset.to_be_bytes());
    write_states(&mut out, &value.states)?;
    Ok(out)
}

/// Reads a record; a null value is a tombstone.
///
/// # Errors
/// Any departure from the format.
pub fn decode(
    key: &[u8],
    value: Option<&[u8]>,
    width: CheckpointEpochWidth,
) -> Result<StateRecord, DraftError> {
    let key = decode_key(key)?;
    let value = value.map(|value| decode_value(value, width)).transpose()?;
    Ok(StateRecord { key, value })
}

fn decode_value(value: &[u8], width: CheckpointEpochWidth) -> Result<StateValue, DraftError> {
    let mut r = Reader::new(value);
    let value = StateValue {
        state_epoch: r.u32("StateEpoch")?,
        checkpoint_epoch: match width {
            CheckpointEpochWidth::U16 => u32::from(r.u16("CheckpointEpoch")?),
            CheckpointEpochWidth::U32 => r.u32("CheckpointEpoch")?,
        },
        start_offset: r.i64("StartOffset")?,
        states: read_states(&mut r)?,
    };
    r.finish()?;
    Ok(value)
}
