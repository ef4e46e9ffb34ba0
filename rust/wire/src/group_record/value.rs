//! `ShareGroupMetadataValue` and `ShareGroupTargetAssignmentMetadataValue`: the epochs of a group.

use share_state_core::share_group::{GroupMetadata, TargetAssignmentMetadata};

use super::begin;
use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::primitives::read_tags;
use crate::primitives::skip_tags;
use crate::varint::write_unsigned;

/// `AssignmentTimestamp` (KIP-1263) is tagged 0 and left out when it is 0.
const TIMESTAMP_TAG: u32 = 0;
const TIMESTAMP_SIZE: usize = 8;

pub(super) fn encode_group(value: GroupMetadata) -> Vec<u8> {
    let mut out = begin();
    out.extend_from_slice(&value.epoch.to_be_bytes());
    out.extend_from_slice(&value.metadata_hash.to_be_bytes());
    write_unsigned(&mut out, 0);
    out
}

pub(super) fn read_group(r: &mut Reader<'_>) -> Result<GroupMetadata, WireError> {
    let value = GroupMetadata {
        epoch: r.i32()?,
        metadata_hash: r.i64()?,
    };
    skip_tags(r)?;
    Ok(value)
}

pub(super) fn encode_target(value: TargetAssignmentMetadata) -> Vec<u8> {
    let mut out = begin();
    out.extend_from_slice(&value.assignment_epoch.to_be_bytes());
    if value.assignment_timestamp == 0 {
        write_unsigned(&mut out, 0);
    } else {
        write_unsigned(&mut out, 1);
        write_unsigned(&mut out, TIMESTAMP_TAG);
        write_unsigned(&mut out, TIMESTAMP_SIZE as u32);
        out.extend_from_slice(&value.assignment_timestamp.to_be_bytes());
    }
    out
}

pub(super) fn read_target(r: &mut Reader<'_>) -> Result<TargetAssignmentMetadata, WireError> {
    let mut value = TargetAssignmentMetadata {
        assignment_epoch: r.i32()?,
        assignment_timestamp: 0,
    };
    read_tags(r, |tag, mut data| {
        if tag == TIMESTAMP_TAG {
            let size = data.remaining();
            if size != TIMESTAMP_SIZE {
                return Err(data.error(WireErrorKind::TagSize { tag, size }));
            }
            value.assignment_timestamp = data.i64()?;
        }
        Ok(())
    })?;
    Ok(value)
}
