//! The schemas: what the requests and answers of RPC 83 to 87 hold for each share partition, fields in wire order.

use share_state_core::ids::TopicId;
use share_state_core::state_batch::StateBatch;

use super::field::{Field, message_struct};
use crate::cursor::Reader;
use crate::error::WireError;
use crate::primitives::skip_tags;

message_struct! {
    /// Partitions of one topic.
    TopicPartitions<P> {
        /// The topic.
        topic_id: TopicId,
        /// Request or answer for each of its partitions.
        partitions: Vec<P>,
    }
}

message_struct! {
    /// A share partition that is to be initialised (RPC 83).
    InitializePartition {
        /// Partition of the topic.
        partition: i32,
        /// Epoch of the new state.
        state_epoch: i32,
        /// Start offset; -1 when not yet resolved.
        start_offset: i64,
    }
}

message_struct! {
    /// A share partition whose state is to be read by its leader (RPC 84).
    ReadPartition {
        /// Partition of the topic.
        partition: i32,
        /// Epoch of the leader.
        leader_epoch: i32,
    }
}

message_struct! {
    /// State as it was read (RPC 84). It has no delivery complete count: a leader counts for itself.
    ReadPartitionResult {
        /// Partition of the topic.
        partition: i32,
        /// Kafka's error code; 0 for none.
        error_code: i16,
        /// Text with the error, if any.
        error_message: Option<String>,
        /// Epoch of the state.
        state_epoch: i32,
        /// Start offset; -1 when not yet resolved.
        start_offset: i64,
        /// State of the records after it, as far as it is known.
        state_batches: Vec<StateBatch>,
    }
}

message_struct! {
    /// A change of a share partition's state (RPC 85).
    WritePartition {
        /// Partition of the topic.
        partition: i32,
        /// Epoch of the state that the writer has read.
        state_epoch: i32,
        /// Epoch of the leader that writes.
        leader_epoch: i32,
        /// Start offset; -1 leaves it as it was.
        start_offset: i64,
        /// Terminal records at or after the start offset; -1 when unknown (KIP-1226).
        delivery_complete_count: i32 [since 1 else -1],
        /// State batches that changed.
        state_batches: Vec<StateBatch>,
    }
}

message_struct! {
    /// A share partition whose state is to be deleted (RPC 86).
    DeletePartition {
        /// Partition of the topic.
        partition: i32,
    }
}

message_struct! {
    /// Outcome of an initialise, a write or a delete (RPC 83, 85, 86).
    PartitionResult {
        /// Partition of the topic.
        partition: i32,
        /// Kafka's error code; 0 for none.
        error_code: i16,
        /// Text with the error, if any.
        error_message: Option<String>,
    }
}

message_struct! {
    /// A share partition whose state is to be summed up (RPC 87).
    SummaryPartition {
        /// Partition of the topic.
        partition: i32,
        /// Epoch of the leader; the coordinator does not look at it.
        leader_epoch: i32,
    }
}

message_struct! {
    /// The summary (RPC 87).
    SummaryPartitionResult {
        /// Partition of the topic.
        partition: i32,
        /// Kafka's error code; 0 for none.
        error_code: i16,
        /// Text with the error, if any.
        error_message: Option<String>,
        /// Epoch of the state.
        state_epoch: i32,
        /// Highest leader epoch that has read it.
        leader_epoch: i32,
        /// Start offset; -1 when unknown.
        start_offset: i64,
        /// Terminal records at or after the start offset; -1 when unknown (KIP-1226).
        delivery_complete_count: i32 [since 1 else -1],
    }
}
