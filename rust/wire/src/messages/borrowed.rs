//! The hot path of a leader: a write request straight from what the share partitions hand out, with nothing copied but
//! the bytes themselves.

use share_state_core::ids::TopicId;
use share_state_core::persister::WriteStateRef;

use super::{Api, Write, check_version};
use crate::error::WireError;
use crate::primitives::{array_len_size, string_size, write_array_len, write_string};
use crate::state_batch::{state_batches_size, write_state_batches};

/// The bytes of WriteShareGroupState (RPC 85), without its header: the same as those of
/// [`WriteRequest::encode`](super::Request::encode) for the same content. Each topic has its partitions as number and
/// change, which may be lent.
///
/// # Errors
/// The version is unknown, or the group id is longer than 32,767 bytes.
pub fn encode_write_request<'a, W: Copy + Into<WriteStateRef<'a>>>(
    group_id: &str,
    topics: &[(TopicId, &[(i32, W)])],
    version: i16,
) -> Result<Vec<u8>, WireError> {
    check_version::<Write>(version)?;
    let has_complete_count = version >= 1;
    let fixed = if has_complete_count { 25 } else { 21 };
    let mut size = string_size(Some(group_id))? + array_len_size(topics.len())? + 1;
    for (_, partitions) in topics {
        size += 16 + array_len_size(partitions.len())? + 1;
        for (_, write) in *partitions {
            size += fixed + state_batches_size((*write).into().state_batches)?;
        }
    }

    let mut out = Vec::with_capacity(size);
    write_string(&mut out, Some(group_id));
    write_array_len(&mut out, topics.len());
    for (topic_id, partitions) in topics {
        out.extend_from_slice(&topic_id.0);
        write_array_len(&mut out, partitions.len());
        for (partition, write) in *partitions {
            let write = (*write).into();
            out.extend_from_slice(&partition.to_be_bytes());
            out.extend_from_slice(&write.state_epoch.to_be_bytes());
            out.extend_from_slice(&write.leader_epoch.to_be_bytes());
            out.extend_from_slice(&write.start_offset.to_be_bytes());
            if has_complete_count {
                out.extend_from_slice(&write.delivery_complete_count.to_be_bytes());
            }
            write_state_batches(&mut out, write.state_batches);
            out.push(0);
        }
        out.push(0);
    }
    out.push(0);
    Ok(out)
}

const _: () = assert!(
    Write::MAX_VERSION == 1,
    "a newer version may have more fields"
);
