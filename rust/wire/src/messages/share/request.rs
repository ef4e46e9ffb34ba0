//! The two requests of a share consumer that take records and give them back.

use std::borrow::Cow;

use share_state_core::ids::TopicId;

use crate::cursor::Reader;
use crate::error::WireError;
use crate::messages::field::{Field, message_struct};
use crate::messages::schema::TopicPartitions;
use crate::primitives::skip_tags;

message_struct! {
    /// ShareFetch (RPC 78), versions 1 and 2.
    ShareFetchRequest<'read> {
        /// Id of the share group.
        group_id: Option<Cow<'read, str>>,
        /// Id of the member.
        member_id: Option<Cow<'read, str>>,
        /// Epoch of the share session: 0 opens one, -1 ends it.
        share_session_epoch: i32,
        /// Time that the answer may wait for records, ms.
        max_wait_ms: i32,
        /// Bytes of records that the answer should wait for.
        min_bytes: i32,
        /// The most bytes of records; one batch may be larger.
        max_bytes: i32,
        /// The most records; a limit in the sense of `share_acquire_mode`.
        max_records: i32,
        /// Records that a new in-flight batch should have.
        batch_size: i32,
        /// 0 for whole batches beyond `max_records`, 1 for no record more (KIP-1206).
        share_acquire_mode: i8 [since 2 else 0],
        /// The request renews locks and fetches nothing (KIP-1222).
        is_renew_ack: bool [since 2 else false],
        /// Partitions to fetch from now on, with the acknowledgements of each.
        topics: Vec<TopicAcknowledgements<'read>>,
        /// Partitions not to fetch any more, by topic.
        forgotten_topics_data: Vec<TopicPartitions<i32>>,
    }
}

message_struct! {
    /// ShareAcknowledge (RPC 79), versions 1 and 2.
    ShareAcknowledgeRequest<'read> {
        /// Id of the share group.
        group_id: Option<Cow<'read, str>>,
        /// Id of the member.
        member_id: Option<Cow<'read, str>>,
        /// Epoch of the share session; -1 ends it.
        share_session_epoch: i32,
        /// The request renews locks (KIP-1222).
        is_renew_ack: bool [since 2 else false],
        /// The acknowledgements, by topic.
        topics: Vec<TopicAcknowledgements<'read>>,
    }
}

message_struct! {
    /// Acknowledgements of one topic.
    TopicAcknowledgements<'read> {
        /// The topic.
        topic_id: TopicId,
        /// Its partitions.
        partitions: Vec<PartitionAcknowledgements<'read>>,
    }
}

message_struct! {
    /// Acknowledgements of one partition; none in most requests to fetch.
    PartitionAcknowledgements<'read> {
        /// Partition of the topic.
        partition: i32,
        /// Ranges of records.
        batches: Vec<AcknowledgementBatch<'read>>,
    }
}

message_struct! {
    /// A range of records and what became of them.
    AcknowledgementBatch<'read> {
        /// First offset.
        first_offset: i64,
        /// Last offset, inclusive.
        last_offset: i64,
        /// Types: a single one for the whole range, or one for each offset.
        types: &'read [u8],
    }
}

macro_rules! requests {
    ($($request:ident),*) => {$(
        impl<'a> $request<'a> {
            /// Reads a request, without its header. What follows it is skipped, and its arrays have at most `elements`
            /// elements altogether.
            ///
            /// # Errors
            /// The version is unknown, the bytes do not follow the format, or there are more elements.
            pub fn decode(buf: &'a [u8], version: i16, elements: usize) -> Result<Self, WireError> {
                super::decode(buf, version, elements)
            }

            /// The bytes of the request, without its header.
            ///
            /// # Errors
            /// The version is unknown, or a string is longer than 32,767 bytes.
            pub fn encode(&self, version: i16) -> Result<Vec<u8>, WireError> {
                super::encode(self, version, 0)
            }
        }
    )*};
}

requests!(ShareFetchRequest, ShareAcknowledgeRequest);
