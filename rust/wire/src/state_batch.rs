//! `StateBatch`: the one struct that requests, answers and record values share, and the only one that comes in numbers.

use share_state_core::state_batch::StateBatch;

use crate::cursor::Reader;
use crate::error::WireError;
use crate::primitives::{array_len_size, read_array_len, skip_tags, write_array_len};

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

fn encoded(batch: &StateBatch) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    bytes[..8].copy_from_slice(&batch.first_offset.to_be_bytes());
    bytes[8..16].copy_from_slice(&batch.last_offset.to_be_bytes());
    bytes[16] = batch.delivery_state as u8;
    bytes[17..19].copy_from_slice(&batch.delivery_count.to_be_bytes());
    bytes
}

/// A state batch without tagged fields; `None` if it has some.
fn decoded(bytes: &[u8; SIZE]) -> Option<StateBatch> {
    let [a, b, c, d, e, f, g, h, rest @ ..] = *bytes;
    let first_offset = i64::from_be_bytes([a, b, c, d, e, f, g, h]);
    let [a, b, c, d, e, f, g, h, state, high, low, tags] = rest;
    (tags == 0).then_some(StateBatch {
        first_offset,
        last_offset: i64::from_be_bytes([a, b, c, d, e, f, g, h]),
        delivery_state: state as i8,
        delivery_count: i16::from_be_bytes([high, low]),
    })
}

/// Writes state batches as the elements of an array; room is made and checked once for all.
pub(crate) fn write_elements(out: &mut Vec<u8>, batches: &[StateBatch]) {
    let from = out.len();
    out.resize(from + SIZE * batches.len(), 0);
    let (_, room) = out.split_at_mut(from);
    let (slots, _) = room.as_chunks_mut::<SIZE>();
    for (slot, batch) in slots.iter_mut().zip(batches) {
        *slot = encoded(batch);
    }
}

pub(crate) fn read_state_batches(r: &mut Reader<'_>) -> Result<Vec<StateBatch>, WireError> {
    let mut batches = Vec::new();
    read_state_batches_into(r, &mut batches)?;
    Ok(batches)
}

/// Reads the array into `batches`, whose content goes and whose room is used again.
pub(crate) fn read_state_batches_into(
    r: &mut Reader<'_>,
    batches: &mut Vec<StateBatch>,
) -> Result<(), WireError> {
    let count = read_array_len(r, SIZE)?;
    batches.clear();
    // The count fits the rest of the input, and a batch takes hardly more room in memory.
    batches.reserve(count);
    // As Kafka writes them, all are of one size.
    let (chunks, _) = r.rest().as_chunks::<SIZE>();
    batches.extend(chunks.iter().take(count).map_while(decoded));
    r.take(SIZE * batches.len())?;
    for _ in batches.len()..count {
        batches.push(read_state_batch(r)?);
    }
    Ok(())
}

pub(crate) fn state_batches_size(batches: &[StateBatch]) -> Result<usize, WireError> {
    Ok(array_len_size(batches.len())? + SIZE * batches.len())
}

pub(crate) fn write_state_batches(out: &mut Vec<u8>, batches: &[StateBatch]) {
    write_array_len(out, batches.len());
    write_elements(out, batches);
}
