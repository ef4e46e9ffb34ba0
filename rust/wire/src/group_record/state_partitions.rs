//! `ShareGroupStatePartitionMetadataValue`: `InitializingTopics[] · InitializedTopics[]`, both of
//! `TopicId · TopicName · Partitions[]`, and `DeletingTopics[]` of `TopicId · TopicName`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use share_state_core::share_group::{NamedPartitions, PartitionsByTopic, StatePartitions};

use super::assignment::{read_partitions, write_partitions};
use super::begin;
use crate::cursor::Reader;
use crate::error::WireError;
use crate::primitives::{
    array_len_size, read_array_len, read_string, read_topic_id, skip_tags, string_size,
    write_array_len, write_string,
};
use crate::varint::write_unsigned;

/// The least that a topic with partitions takes: id, name, count, tags.
const MIN_TOPIC: usize = 19;
/// The least that a topic takes: id, name, tags.
const MIN_NAME: usize = 18;

pub(super) fn encode(value: &StatePartitions) -> Result<Vec<u8>, WireError> {
    let mut out = begin();
    write_topics(&mut out, &value.initializing)?;
    write_topics(&mut out, &value.initialized)?;
    array_len_size(value.deleting.len())?;
    write_array_len(&mut out, value.deleting.len());
    for (topic_id, name) in &value.deleting {
        out.extend_from_slice(&topic_id.0);
        write_name(&mut out, name)?;
        write_unsigned(&mut out, 0);
    }
    write_unsigned(&mut out, 0);
    Ok(out)
}

pub(super) fn read(r: &mut Reader<'_>) -> Result<StatePartitions, WireError> {
    let value = StatePartitions {
        initializing: read_topics(r)?,
        initialized: read_topics(r)?,
        deleting: read_names(r)?,
    };
    skip_tags(r)?;
    Ok(value)
}

fn write_topics(out: &mut Vec<u8>, topics: &PartitionsByTopic) -> Result<(), WireError> {
    array_len_size(topics.len())?;
    write_array_len(out, topics.len());
    for (topic_id, topic) in topics {
        out.extend_from_slice(&topic_id.0);
        write_name(out, &topic.name)?;
        write_partitions(
            out,
            topic.partitions.len(),
            topic.partitions.iter().copied(),
        )?;
        write_unsigned(out, 0);
    }
    Ok(())
}

/// Reads topics in any order; one that occurs twice has the partitions of both.
fn read_topics(r: &mut Reader<'_>) -> Result<PartitionsByTopic, WireError> {
    let mut topics = PartitionsByTopic::new();
    for _ in 0..read_array_len(r, MIN_TOPIC)? {
        let topic_id = read_topic_id(r)?;
        let name = read_string(r)?;
        let topic = topics.entry(topic_id).or_insert_with(|| NamedPartitions {
            name: Arc::from(name),
            partitions: BTreeSet::new(),
        });
        read_partitions(r, |partition| {
            topic.partitions.insert(partition);
        })?;
        skip_tags(r)?;
    }
    Ok(topics)
}

fn read_names(
    r: &mut Reader<'_>,
) -> Result<BTreeMap<share_state_core::ids::TopicId, Arc<str>>, WireError> {
    let mut names = BTreeMap::new();
    for _ in 0..read_array_len(r, MIN_NAME)? {
        names.insert(read_topic_id(r)?, Arc::from(read_string(r)?));
        skip_tags(r)?;
    }
    Ok(names)
}

fn write_name(out: &mut Vec<u8>, name: &str) -> Result<(), WireError> {
    string_size(Some(name))?;
    write_string(out, Some(name));
    Ok(())
}
