//! `States`, the list that every record of both drafts holds: `[base offset i64, last offset i64, state i8, delivery count i16]`.
//!
//! In memory an element is the core's [`StateBatch`]: the fields are the same, and Kafka's form only renamed two of them.

use share_state_core::record_state::RecordState;
use share_state_core::state_batch::StateBatch;

use crate::cursor::Reader;
use crate::error::DraftError;

/// Bytes of one element.
const STATE_SIZE: usize = 8 + 8 + 1 + 2;

/// State that a writer of the drafts puts down for a record that is in flight in `state`.
///
/// ACQUIRED is transient and never written: it becomes AVAILABLE with the delivery count before the delivery. A leader that is
/// lost therefore leaves no trace of deliveries that nobody answered.
#[must_use]
pub const fn as_written(state: StateBatch) -> StateBatch {
    if state.delivery_state != RecordState::Acquired.id() {
        return state;
    }
    StateBatch {
        delivery_state: RecordState::Available.id(),
        delivery_count: match state.delivery_count {
            count @ 1.. => count - 1,
            _ => 0,
        },
        ..state
    }
}

/// Reads the list. Its count is checked against the rest of the input before anything is reserved.
pub(crate) fn read_states(r: &mut Reader<'_>) -> Result<Vec<StateBatch>, DraftError> {
    let start = *r;
    let count = r.i32("States")?;
    let possible = r.remaining() / STATE_SIZE;
    let fits = usize::try_from(count)
        .ok()
        .filter(|count| *count <= possible);
    let fits = fits.ok_or_else(|| start.error("States"))?;
    let mut states = Vec::with_capacity(fits);
    for _ in 0..fits {
        states.push(StateBatch {
            first_offset: r.i64("BaseOffset")?,
            last_offset: r.i64("LastOffset")?,
            delivery_state: r.array("State").map(i8::from_be_bytes)?,
            delivery_count: r.i16("DeliveryCount")?,
        });
    }
    Ok(states)
}

/// Writes the list as it stands.
///
/// # Errors
/// It is longer than its count can say.
pub(crate) fn write_states(out: &mut Vec<u8>, states: &[StateBatch]) -> Result<(), DraftError> {
    let count = i32::try_from(states.len()).map_err(|_| Reader::new(&[]).error("States"))?;
    out.reserve(4 + states.len() * STATE_SIZE);
    out.extend_from_slice(&count.to_be_bytes());
    for state in states {
        out.extend_from_slice(&state.first_offset.to_be_bytes());
        out.extend_from_slice(&state.last_offset.to_be_bytes());
        out.extend_from_slice(&state.delivery_state.to_be_bytes());
        out.extend_from_slice(&state.delivery_count.to_be_bytes());
    }
    Ok(())
}
