//! `StateBatch`: the one struct that requests, answers and record values share, and the only one that comes in numbers.

use share_state_core::state_batch::StateBatch;

use crate::cursor::Reader;
use crate::error::WireError;
use crate::primitives::{array_len_size, read_array, skip_tags, write_array_len};

/// Bytes of a state batch without tagged fields, and so the least it can take:
/// `FirstOffset i64, LastOffset i64, DeliveryState i8, DeliveryCount i16`, no tags.
pub(crate) const SIZE: usize = 20;

pub(crate) fn read_state_batch(r: &mut Reader<'_>) -> Result<StateBatch, WireError> {
    let batch = StateBatch {
        first_offset: r.i64()?,
        last_offset: r.i64()?,
        delivery_state: r.i8()?,
        delivery_count: r.i16()?,
    };
    skip_tags(r)?;
    Ok(batch)
}

pub(crate) fn write_state_batch(out: &mut Vec<u8>, batch: &StateBatch) {
    let mut bytes = [0; SIZE];
    bytes[..8].copy_from_slice(&batch.first_offset.to_be_bytes());
    bytes[8..16].copy_from_slice(&batch.last_offset.to_be_bytes());
    bytes[16] = batch.delivery_state as u8;
    bytes[17..19].copy_from_slice(&batch.delivery_count.to_be_bytes());
    out.extend_from_slice(&bytes);
}

pub(crate) fn read_state_batches(r: &mut Reader<'_>) -> Result<Vec<StateBatch>, WireError> {
    read_array(r, SIZE, read_state_batch)
}

pub(crate) fn state_batches_size(batches: &[StateBatch]) -> Result<usize, WireError> {
    Ok(array_len_size(batches.len())? + SIZE * batches.len())
}

pub(crate) fn write_state_batches(out: &mut Vec<u8>, batches: &[StateBatch]) {
    write_array_len(out, batches.len());
    for batch in batches {
        write_state_batch(out, batch);
    }
}
