//! Requests as a client writes them.

use std::borrow::Cow;

use share_state_core::ids::TopicId;
use share_state_core::share_session::TopicIdPartition;
use share_state_wire::messages::schema::TopicPartitions;
use share_state_wire::messages::share::{
    AcknowledgementBatch, PartitionAcknowledgements, ShareAcknowledgeRequest, ShareFetchRequest,
    TopicAcknowledgements,
};

/// First offset, last offset, type of all of them.
pub type Acknowledged = (TopicIdPartition, i64, i64, u8);

/// The partition of a topic that is named by a number.
pub const fn place(topic: u8, partition: i32) -> TopicIdPartition {
    TopicIdPartition {
        topic_id: TopicId([topic; 16]),
        partition,
    }
}

/// A ShareFetch request, with defaults of a client that polls.
#[derive(Clone, Debug)]
pub struct Fetch {
    pub group: String,
    pub member: String,
    pub epoch: i32,
    pub max_wait_ms: i32,
    pub min_bytes: i32,
    pub max_bytes: i32,
    pub max_records: i32,
    pub mode: i8,
    pub is_renewal: bool,
    pub added: Vec<TopicIdPartition>,
    pub forgotten: Vec<TopicIdPartition>,
    pub acknowledged: Vec<Acknowledged>,
}

impl Fetch {
    pub fn of(member: &str, epoch: i32) -> Self {
        Self {
            group: "group".to_owned(),
            member: member.to_owned(),
            epoch,
            max_wait_ms: 0,
            min_bytes: 1,
            max_bytes: 1 << 20,
            max_records: 4,
            mode: 1,
            is_renewal: false,
            added: Vec::new(),
            forgotten: Vec::new(),
            acknowledged: Vec::new(),
        }
    }

    pub fn adding(mut self, added: &[TopicIdPartition]) -> Self {
        self.added.extend(added);
        self
    }

    pub fn waiting(mut self, max_wait_ms: i32) -> Self {
        self.max_wait_ms = max_wait_ms;
        self
    }

    /// The frame, its length included.
    pub fn frame(&self, correlation_id: i32) -> Vec<u8> {
        let request = ShareFetchRequest {
            group_id: Some(Cow::Borrowed(&self.group)),
            member_id: Some(Cow::Borrowed(&self.member)),
            share_session_epoch: self.epoch,
            max_wait_ms: self.max_wait_ms,
            min_bytes: self.min_bytes,
            max_bytes: self.max_bytes,
            max_records: self.max_records,
            batch_size: 1,
            share_acquire_mode: self.mode,
            is_renew_ack: self.is_renewal,
            topics: topics(&self.added, &self.acknowledged),
            forgotten_topics_data: self.forgotten.iter().map(|id| forgotten(*id)).collect(),
        };
        framed(78, 2, correlation_id, &request.encode(2).unwrap())
    }
}

/// A ShareAcknowledge request.
#[derive(Clone, Debug)]
pub struct Acknowledge {
    pub group: String,
    pub member: String,
    pub epoch: i32,
    pub is_renewal: bool,
    pub acknowledged: Vec<Acknowledged>,
}

impl Acknowledge {
    pub fn of(member: &str, epoch: i32, acknowledged: &[Acknowledged]) -> Self {
        Self {
            group: "group".to_owned(),
            member: member.to_owned(),
            epoch,
            is_renewal: false,
            acknowledged: acknowledged.to_vec(),
        }
    }

    /// The frame, its length included.
    pub fn frame(&self, correlation_id: i32) -> Vec<u8> {
        let request = ShareAcknowledgeRequest {
            group_id: Some(Cow::Borrowed(&self.group)),
            member_id: Some(Cow::Borrowed(&self.member)),
            share_session_epoch: self.epoch,
            is_renew_ack: self.is_renewal,
            topics: topics(&[], &self.acknowledged),
        };
        framed(79, 2, correlation_id, &request.encode(2).unwrap())
    }
}

/// A request with its header and its length. The requests of these tests are flexible.
pub fn framed(api_key: i16, version: i16, correlation_id: i32, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; 4];
    frame.extend(api_key.to_be_bytes());
    frame.extend(version.to_be_bytes());
    frame.extend(correlation_id.to_be_bytes());
    frame.extend(2_i16.to_be_bytes());
    frame.extend(b"me\0");
    frame.extend(body);
    let length = i32::try_from(frame.len() - 4).unwrap();
    frame[..4].copy_from_slice(&length.to_be_bytes());
    frame
}

/// A topic for each row, as librdkafka does: topics and partitions come several times.
fn topics<'a>(
    added: &[TopicIdPartition],
    acknowledged: &'a [Acknowledged],
) -> Vec<TopicAcknowledgements<'a>> {
    let topic = |id: &TopicIdPartition, batches| TopicAcknowledgements {
        topic_id: id.topic_id,
        partitions: vec![PartitionAcknowledgements {
            partition: id.partition,
            batches,
        }],
    };
    let added = added.iter().map(|id| topic(id, Vec::new()));
    let acknowledged = acknowledged.iter().map(|(id, first, last, kind)| {
        let batch = AcknowledgementBatch {
            first_offset: *first,
            last_offset: *last,
            types: core::slice::from_ref(kind),
        };
        topic(id, vec![batch])
    });
    added.chain(acknowledged).collect()
}

fn forgotten(id: TopicIdPartition) -> TopicPartitions<i32> {
    TopicPartitions {
        topic_id: id.topic_id,
        partitions: vec![id.partition],
    }
}
