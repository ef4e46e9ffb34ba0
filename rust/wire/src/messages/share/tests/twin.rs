//! The messages in the shape of their tables.

use std::borrow::Cow;

use crate::messages::protocol::Value;
use crate::messages::schema::TopicPartitions;

use super::*;

/// A message that has a table too.
pub(super) trait Twin {
    const KEY: i16;
    const DIRECTION: Direction;
    /// The message as the table has it in this version.
    fn value(&self, version: i16) -> Borrowed<'_>;
}

impl Twin for ShareFetchRequest<'_> {
    const KEY: i16 = 78;
    const DIRECTION: Direction = Direction::Request;
    fn value(&self, version: i16) -> Borrowed<'_> {
        let forgotten = self.forgotten_topics_data.iter();
        structure([
            text(self.group_id.as_ref()),
            text(self.member_id.as_ref()),
            int(self.share_session_epoch),
            int(self.max_wait_ms),
            int(self.min_bytes),
            int(self.max_bytes),
            int(self.max_records),
            int(self.batch_size),
            since_2(version, Value::Int(self.share_acquire_mode.into())),
            since_2(version, Value::Bool(self.is_renew_ack)),
            topics(&self.topics),
            Some(Value::Array(forgotten.map(forgotten_topic).collect())),
        ])
    }
}

impl Twin for ShareAcknowledgeRequest<'_> {
    const KEY: i16 = 79;
    const DIRECTION: Direction = Direction::Request;
    fn value(&self, version: i16) -> Borrowed<'_> {
        structure([
            text(self.group_id.as_ref()),
            text(self.member_id.as_ref()),
            int(self.share_session_epoch),
            since_2(version, Value::Bool(self.is_renew_ack)),
            topics(&self.topics),
        ])
    }
}

impl Twin for ShareAcknowledgeAnswer<'_> {
    const KEY: i16 = 79;
    const DIRECTION: Direction = Direction::Response;
    fn value(&self, version: i16) -> Borrowed<'_> {
        let partition = |row: &'_ AcknowledgedPartition<'_>| {
            let hint = &row.current_leader;
            let hint = structure([int(hint.leader_id), int(hint.leader_epoch)]);
            let message = row.error_message.as_ref().map(|text| text.to_string());
            (row.partition, row.error_code, message, hint)
        };
        let topic = self.responses.iter().map(|topic| {
            let rows = topic.partitions.iter().map(partition);
            let rows = rows.map(|(partition, code, message, hint)| {
                let message = message.map_or(Value::Null, |text| Value::Text(Cow::Owned(text)));
                structure([int(partition), int(code), Some(message), Some(hint)])
            });
            structure([
                Some(Value::Uuid(topic.topic_id)),
                Some(Value::Array(rows.collect())),
            ])
        });
        let endpoints = self.node_endpoints.iter().map(|node| {
            let host = Some(Value::Text(Cow::Borrowed(&*node.host)));
            structure([
                int(node.node_id),
                host,
                int(node.port),
                text(node.rack.as_ref()),
            ])
        });
        structure([
            int(self.throttle_time_ms),
            int(self.error_code),
            text(self.error_message.as_ref()),
            since_2(version, Value::Int(self.acquisition_lock_timeout_ms.into())),
            Some(Value::Array(topic.collect())),
            Some(Value::Array(endpoints.collect())),
        ])
    }
}

fn structure<'a, const N: usize>(fields: [Option<Borrowed<'a>>; N]) -> Borrowed<'a> {
    Value::Struct(fields.into())
}

fn int<'a>(value: impl Into<i64>) -> Option<Borrowed<'a>> {
    Some(Value::Int(value.into()))
}

fn since_2(version: i16, value: Borrowed<'_>) -> Option<Borrowed<'_>> {
    (version >= 2).then_some(value)
}

fn text<'a>(text: Option<&'a Cow<'_, str>>) -> Option<Borrowed<'a>> {
    Some(text.map_or(Value::Null, |text| Value::Text(Cow::Borrowed(&**text))))
}

fn topics<'a>(topics: &'a [TopicAcknowledgements<'_>]) -> Option<Borrowed<'a>> {
    let batch = |batch: &'a AcknowledgementBatch<'_>| {
        structure([
            int(batch.first_offset),
            int(batch.last_offset),
            Some(Value::Bytes(batch.types)),
        ])
    };
    let partition = |row: &'a PartitionAcknowledgements<'_>| {
        let batches = row.batches.iter().map(batch).collect();
        structure([int(row.partition), Some(Value::Array(batches))])
    };
    let topic = |topic: &'a TopicAcknowledgements<'_>| {
        let rows = topic.partitions.iter().map(partition).collect();
        structure([Some(Value::Uuid(topic.topic_id)), Some(Value::Array(rows))])
    };
    Some(Value::Array(topics.iter().map(topic).collect()))
}

fn forgotten_topic(topic: &TopicPartitions<i32>) -> Borrowed<'_> {
    let numbers = topic
        .partitions
        .iter()
        .map(|number| Value::Int((*number).into()));
    structure([
        Some(Value::Uuid(topic.topic_id)),
        Some(Value::Array(numbers.collect())),
    ])
}
