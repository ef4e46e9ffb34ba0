//! Values (`ShareSnapshotValue`, `ShareUpdateValue`), version 0. Read and write stand side by side, in wire order.

use share_state_core::records::{ShareSnapshot, ShareUpdate, TaggedField};

use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::primitives::read_tags;
use crate::state_batch::{
    read_state_batches, read_state_batches_into, state_batches_size, write_state_batches,
};
use crate::varint::{unsigned_len, write_unsigned};

const VERSION: i16 = 0;
/// `DeliveryCompleteCount` (KIP-1226) is tagged 0 and left out when it is unknown.
const COMPLETE_COUNT_TAG: u32 = 0;
const COMPLETE_COUNT_SIZE: usize = 4;
/// First bytes of tagged fields of which the known one is the only one: their number, tag and size.
const ONLY_COMPLETE_COUNT: [u8; 3] = [1, COMPLETE_COUNT_TAG as u8, COMPLETE_COUNT_SIZE as u8];
const UNKNOWN_COUNT: i32 = -1;

pub(super) fn append_snapshot(
    out: &mut Vec<u8>,
    snapshot: &ShareSnapshot,
) -> Result<(), WireError> {
    let tags = Tags::of(
        snapshot.delivery_complete_count,
        &snapshot.unknown_tagged_fields,
    );
    let size = 2 + 3 * 4 + 3 * 8 + state_batches_size(&snapshot.state_batches)? + tags.size()?;
    out.reserve(size);
    out.extend_from_slice(&VERSION.to_be_bytes());
    out.extend_from_slice(&snapshot.snapshot_epoch.to_be_bytes());
    out.extend_from_slice(&snapshot.state_epoch.to_be_bytes());
    out.extend_from_slice(&snapshot.leader_epoch.to_be_bytes());
    out.extend_from_slice(&snapshot.start_offset.to_be_bytes());
    out.extend_from_slice(&snapshot.create_timestamp.to_be_bytes());
    out.extend_from_slice(&snapshot.write_timestamp.to_be_bytes());
    write_state_batches(out, &snapshot.state_batches);
    tags.write(out);
    Ok(())
}

pub(super) fn decode_snapshot(bytes: &[u8]) -> Result<ShareSnapshot, WireError> {
    let mut r = begin(bytes)?;
    let mut snapshot = ShareSnapshot {
        snapshot_epoch: r.i32()?,
        state_epoch: r.i32()?,
        leader_epoch: r.i32()?,
        start_offset: r.i64()?,
        delivery_complete_count: UNKNOWN_COUNT,
        create_timestamp: r.i64()?,
        write_timestamp: r.i64()?,
        state_batches: read_state_batches(&mut r)?,
        unknown_tagged_fields: Vec::new(),
    };
    (
        snapshot.delivery_complete_count,
        snapshot.unknown_tagged_fields,
    ) = end(r)?;
    Ok(snapshot)
}

pub(super) fn append_update(out: &mut Vec<u8>, update: &ShareUpdate) -> Result<(), WireError> {
    let tags = Tags::of(
        update.delivery_complete_count,
        &update.unknown_tagged_fields,
    );
    let size = 2 + 2 * 4 + 8 + state_batches_size(&update.state_batches)? + tags.size()?;
    out.reserve(size);
    out.extend_from_slice(&VERSION.to_be_bytes());
    out.extend_from_slice(&update.snapshot_epoch.to_be_bytes());
    out.extend_from_slice(&update.leader_epoch.to_be_bytes());
    out.extend_from_slice(&update.start_offset.to_be_bytes());
    write_state_batches(out, &update.state_batches);
    tags.write(out);
    Ok(())
}

/// An empty update, to read into.
pub(super) const fn empty_update() -> ShareUpdate {
    ShareUpdate {
        snapshot_epoch: 0,
        leader_epoch: 0,
        start_offset: 0,
        delivery_complete_count: UNKNOWN_COUNT,
        state_batches: Vec::new(),
        unknown_tagged_fields: Vec::new(),
    }
}

/// Reads an update in the place of another one, whose room is used again; after an error it holds what was read so far.
pub(super) fn read_update(bytes: &[u8], update: &mut ShareUpdate) -> Result<(), WireError> {
    let mut r = begin(bytes)?;
    update.snapshot_epoch = r.i32()?;
    update.leader_epoch = r.i32()?;
    update.start_offset = r.i64()?;
    read_state_batches_into(&mut r, &mut update.state_batches)?;
    (update.delivery_complete_count, update.unknown_tagged_fields) = end(r)?;
    Ok(())
}

fn begin(bytes: &[u8]) -> Result<Reader<'_>, WireError> {
    let mut r = Reader::new(bytes);
    match r.i16()? {
        VERSION => Ok(r),
        version => Err(WireError::new(
            0,
            WireErrorKind::UnsupportedVersion { version },
        )),
    }
}

/// The tagged fields, which are the end of a value.
#[inline]
fn end(r: Reader<'_>) -> Result<(i32, Vec<TaggedField>), WireError> {
    // As Kafka writes them.
    let only_count = r.rest().strip_prefix(&ONLY_COMPLETE_COUNT);
    match only_count.and_then(|count| count.try_into().ok()) {
        Some(count) => Ok((i32::from_be_bytes(count), Vec::new())),
        None => read_end(r),
    }
}

fn read_end(mut r: Reader<'_>) -> Result<(i32, Vec<TaggedField>), WireError> {
    let mut count = UNKNOWN_COUNT;
    let mut unknown = Vec::new();
    read_tags(&mut r, |tag, mut data| {
        if tag == COMPLETE_COUNT_TAG {
            let size = data.remaining();
            if size != COMPLETE_COUNT_SIZE {
                return Err(data.error(WireErrorKind::TagSize { tag, size }));
            }
            count = data.i32()?;
        } else {
            let data = data.take(data.remaining())?.to_vec();
            unknown.push(TaggedField { tag, data });
        }
        Ok(())
    })?;
    r.finish()?;
    Ok((count, unknown))
}

/// The tagged fields of a value that is to be written.
struct Tags<'a> {
    complete_count: Option<i32>,
    unknown: &'a [TaggedField],
}

impl<'a> Tags<'a> {
    fn of(complete_count: i32, unknown: &'a [TaggedField]) -> Self {
        let complete_count = (complete_count != UNKNOWN_COUNT).then_some(complete_count);
        Self {
            complete_count,
            unknown,
        }
    }

    fn count(&self) -> u32 {
        self.unknown.len() as u32 + u32::from(self.complete_count.is_some())
    }

    /// Bytes that the section takes; refuses tags that no reader would take, so that `write` cannot go wrong.
    fn size(&self) -> Result<usize, WireError> {
        let mut size = unsigned_len(self.count());
        if self.complete_count.is_some() {
            size += 2 + COMPLETE_COUNT_SIZE;
        }
        let mut next = COMPLETE_COUNT_TAG + 1;
        for field in self.unknown {
            if field.tag < next || field.tag > i32::MAX as u32 {
                return Err(WireError::unwritable(WireErrorKind::TagOrder {
                    tag: field.tag,
                }));
            }
            next = field.tag + 1;
            let length = field.data.len();
            if length > i32::MAX as usize {
                let kind = WireErrorKind::TagSize {
                    tag: field.tag,
                    size: length,
                };
                return Err(WireError::unwritable(kind));
            }
            size += unsigned_len(field.tag) + unsigned_len(length as u32) + length;
        }
        Ok(size)
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_unsigned(out, self.count());
        if let Some(count) = self.complete_count {
            write_unsigned(out, COMPLETE_COUNT_TAG);
            write_unsigned(out, COMPLETE_COUNT_SIZE as u32);
            out.extend_from_slice(&count.to_be_bytes());
        }
        for field in self.unknown {
            write_unsigned(out, field.tag);
            write_unsigned(out, field.data.len() as u32);
            out.extend_from_slice(&field.data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Zeros that nobody reads take no memory, so the size is asked for and nothing is written.
    #[test]
    fn a_tagged_field_has_at_most_as_many_bytes_as_an_int_can_say() {
        let most = i32::MAX as usize;
        let mut data = vec![0; most + 1];
        for (length, expected) in [
            (
                most + 1,
                Err(WireErrorKind::TagSize {
                    tag: 9,
                    size: most + 1,
                }),
            ),
            (most, Ok(1 + 1 + 5 + most)),
        ] {
            data.truncate(length);
            let fields = [TaggedField { tag: 9, data }];
            let size = Tags::of(UNKNOWN_COUNT, &fields).size();
            assert_eq!(size.map_err(|error| error.kind), expected);
            [TaggedField { data, .. }] = fields;
        }
    }
}
