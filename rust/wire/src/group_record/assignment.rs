//! `ShareGroupTargetAssignmentMemberValue` and `ShareGroupCurrentMemberAssignmentValue`: both end with an array of
//! `TopicId · Partitions[]`.

use share_state_core::assignor::Assignment;
use share_state_core::ids::TopicId;
use share_state_core::share_group::CurrentAssignment;

use super::begin;
use crate::cursor::Reader;
use crate::error::WireError;
use crate::primitives::{
    array_len_size, read_array_len, read_topic_id, skip_tags, write_array_len,
};
use crate::varint::write_unsigned;

/// The least that a topic takes: id, count, tags.
const MIN_TOPIC: usize = 18;

pub(super) fn encode_target(value: &Assignment) -> Result<Vec<u8>, WireError> {
    let mut out = begin();
    write(&mut out, value)?;
    write_unsigned(&mut out, 0);
    Ok(out)
}

pub(super) fn read_target(r: &mut Reader<'_>) -> Result<Assignment, WireError> {
    let assignment = read_assignment(r)?;
    skip_tags(r)?;
    Ok(assignment)
}

pub(super) fn encode_current(value: &CurrentAssignment) -> Result<Vec<u8>, WireError> {
    let mut out = begin();
    out.extend_from_slice(&value.member_epoch.to_be_bytes());
    out.extend_from_slice(&value.previous_member_epoch.to_be_bytes());
    out.extend_from_slice(&value.state.to_be_bytes());
    write(&mut out, &value.assigned)?;
    write_unsigned(&mut out, 0);
    Ok(out)
}

pub(super) fn read_current(r: &mut Reader<'_>) -> Result<CurrentAssignment, WireError> {
    let value = CurrentAssignment {
        member_epoch: r.i32()?,
        previous_member_epoch: r.i32()?,
        state: r.i8()?,
        assigned: read_assignment(r)?,
    };
    skip_tags(r)?;
    Ok(value)
}

fn write(out: &mut Vec<u8>, assignment: &Assignment) -> Result<(), WireError> {
    let topics = assignment.topics();
    array_len_size(topics.len())?;
    write_array_len(out, topics.len());
    for (topic_id, partitions) in topics {
        out.extend_from_slice(&topic_id.0);
        write_partitions(out, partitions.len(), partitions.iter().copied())?;
        write_unsigned(out, 0);
    }
    Ok(())
}

/// Reads topics in any order; one that occurs twice has the partitions of both.
fn read_assignment(r: &mut Reader<'_>) -> Result<Assignment, WireError> {
    let mut partitions: Vec<(TopicId, i32)> = Vec::new();
    for _ in 0..read_array_len(r, MIN_TOPIC)? {
        let topic_id = read_topic_id(r)?;
        read_partitions(r, |partition| partitions.push((topic_id, partition)))?;
        skip_tags(r)?;
    }
    Ok(partitions.into_iter().collect())
}

pub(super) fn write_partitions(
    out: &mut Vec<u8>,
    count: usize,
    partitions: impl Iterator<Item = i32>,
) -> Result<(), WireError> {
    array_len_size(count)?;
    write_array_len(out, count);
    partitions.for_each(|partition| out.extend_from_slice(&partition.to_be_bytes()));
    Ok(())
}

pub(super) fn read_partitions(
    r: &mut Reader<'_>,
    mut partition: impl FnMut(i32),
) -> Result<(), WireError> {
    for _ in 0..read_array_len(r, 4)? {
        partition(r.i32()?);
    }
    Ok(())
}
