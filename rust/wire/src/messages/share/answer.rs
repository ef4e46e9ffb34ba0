//! ShareAcknowledge (79), the answer, as a whole frame.

use std::borrow::Cow;

use share_state_core::ids::TopicId;

use super::{FRAME_START, encode};
use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::messages::field::{Field, message_struct};
use crate::primitives::skip_tags;

message_struct! {
    /// An answer to ShareAcknowledge (RPC 79), versions 1 and 2.
    ShareAcknowledgeAnswer<'read> {
        /// Time that the client must wait before its next request, ms.
        throttle_time_ms: i32,
        /// Error of the whole request; 0 for none.
        error_code: i16,
        /// Its text, if any.
        error_message: Option<Cow<'read, str>>,
        /// The group's lock duration, ms.
        acquisition_lock_timeout_ms: i32 [since 2 else 0],
        /// The partitions of the request, by topic.
        responses: Vec<TopicAcknowledged<'read>>,
        /// Addresses of the leaders that the partitions name.
        node_endpoints: Vec<NodeEndpoint<'read>>,
    }
}

message_struct! {
    /// The answer for the partitions of one topic.
    TopicAcknowledged<'read> {
        /// The topic.
        topic_id: TopicId,
        /// Its partitions.
        partitions: Vec<AcknowledgedPartition<'read>>,
    }
}

message_struct! {
    /// The answer for one partition.
    AcknowledgedPartition<'read> {
        /// Partition of the topic.
        partition: i32,
        /// Kafka's error code; 0 for none.
        error_code: i16,
        /// Its text, if any.
        error_message: Option<Cow<'read, str>>,
        /// The leader as a hint.
        current_leader: LeaderHint,
    }
}

message_struct! {
    /// Leader of a partition as a hint; -1 and -1 for none, since clients read 0 and 0 as "moved to node 0".
    LeaderHint {
        /// Id of the leader.
        leader_id: i32,
        /// Epoch of the leader.
        leader_epoch: i32,
    }
}

message_struct! {
    /// Address of a broker.
    NodeEndpoint<'read> {
        /// Id of the broker.
        node_id: i32,
        /// Its host.
        host: Cow<'read, str>,
        /// Its port.
        port: i32,
        /// Its rack, if it has one.
        rack: Option<Cow<'read, str>>,
    }
}

impl LeaderHint {
    /// The hint that says nothing.
    pub const NONE: Self = Self {
        leader_id: -1,
        leader_epoch: -1,
    };
}

impl<'a> ShareAcknowledgeAnswer<'a> {
    /// Reads an answer, without its header. What follows it is skipped, and its arrays have at most `elements` elements
    /// altogether.
    ///
    /// # Errors
    /// The version is unknown, the bytes do not follow the format, or there are more elements.
    pub fn decode(buf: &'a [u8], version: i16, elements: usize) -> Result<Self, WireError> {
        super::decode(buf, version, elements)
    }

    /// The answer as a frame: its length, the header, the message.
    ///
    /// # Errors
    /// The version is unknown, a text is longer than 32,767 bytes, or the frame would be longer than its 32-bit length can
    /// say.
    pub fn frame(&self, version: i16, correlation_id: i32) -> Result<Vec<u8>, WireError> {
        let mut out = encode(self, version, FRAME_START)?;
        let length = i32::try_from(out.len() - size_of::<i32>()).map_err(|_| {
            WireError::unwritable(WireErrorKind::Limit {
                allowed: i32::MAX as usize,
            })
        })?;
        for (place, number) in out.chunks_exact_mut(4).zip([length, correlation_id]) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        Ok(out)
    }
}
