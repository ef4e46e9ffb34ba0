//! Random messages, small and with the edges of every number.

use proptest::collection::vec;
use proptest::option;
use share_state_core::ids::TopicId;

use super::*;
use crate::messages::schema::TopicPartitions;

fn texts() -> impl Strategy<Value = Option<std::borrow::Cow<'static, str>>> {
    option::of("[a-zé🚀]{0,5}").prop_map(|text| text.map(Into::into))
}

fn ids() -> impl Strategy<Value = TopicId> {
    any::<[u8; 16]>().prop_map(TopicId)
}

fn numbers() -> impl Strategy<Value = i32> {
    prop_oneof![-1..3, Just(i32::MAX), Just(i32::MIN), any::<i32>()]
}

fn offsets() -> impl Strategy<Value = i64> {
    prop_oneof![-1..300i64, Just(i64::MAX), Just(i64::MIN), any::<i64>()]
}

fn batches() -> impl Strategy<Value = AcknowledgementBatch<'static>> {
    let types: [&[u8]; 5] = [&[], &[1], &[4], &[0, 1, 2, 3, 4], &[7; 200]];
    (offsets(), offsets(), prop::sample::select(types.to_vec())).prop_map(
        |(first_offset, last_offset, types)| AcknowledgementBatch {
            first_offset,
            last_offset,
            types,
        },
    )
}

fn topics() -> impl Strategy<Value = Vec<TopicAcknowledgements<'static>>> {
    let partition = (numbers(), vec(batches(), 0..3))
        .prop_map(|(partition, batches)| PartitionAcknowledgements { partition, batches });
    let topic =
        (ids(), vec(partition, 0..4)).prop_map(|(topic_id, partitions)| TopicAcknowledgements {
            topic_id,
            partitions,
        });
    vec(topic, 0..3)
}

pub(super) fn fetches() -> impl Strategy<Value = ShareFetchRequest<'static>> {
    let forgotten =
        (ids(), vec(numbers(), 0..4)).prop_map(|(topic_id, partitions)| TopicPartitions {
            topic_id,
            partitions,
        });
    let limits = prop::array::uniform6(numbers());
    let lists = (topics(), vec(forgotten, 0..3));
    (texts(), texts(), limits, any::<i8>(), any::<bool>(), lists).prop_map(
        |(group_id, member_id, numbers, share_acquire_mode, is_renew_ack, lists)| {
            let [
                epoch,
                max_wait_ms,
                min_bytes,
                max_bytes,
                max_records,
                batch_size,
            ] = numbers;
            ShareFetchRequest {
                group_id,
                member_id,
                share_session_epoch: epoch,
                max_wait_ms,
                min_bytes,
                max_bytes,
                max_records,
                batch_size,
                share_acquire_mode,
                is_renew_ack,
                topics: lists.0,
                forgotten_topics_data: lists.1,
            }
        },
    )
}

pub(super) fn requests() -> impl Strategy<Value = ShareAcknowledgeRequest<'static>> {
    (texts(), texts(), numbers(), any::<bool>(), topics()).prop_map(
        |(group_id, member_id, share_session_epoch, is_renew_ack, topics)| {
            ShareAcknowledgeRequest {
                group_id,
                member_id,
                share_session_epoch,
                is_renew_ack,
                topics,
            }
        },
    )
}

/// An answer without a partition.
pub(super) fn refused(error_code: i16) -> ShareAcknowledgeAnswer<'static> {
    ShareAcknowledgeAnswer {
        throttle_time_ms: 0,
        error_code,
        error_message: None,
        acquisition_lock_timeout_ms: 0,
        responses: Vec::new(),
        node_endpoints: Vec::new(),
    }
}

pub(super) fn answers() -> impl Strategy<Value = ShareAcknowledgeAnswer<'static>> {
    let hint = (numbers(), numbers()).prop_map(|(leader_id, leader_epoch)| LeaderHint {
        leader_id,
        leader_epoch,
    });
    let partition = (numbers(), any::<i16>(), texts(), hint).prop_map(
        |(partition, error_code, error_message, current_leader)| AcknowledgedPartition {
            partition,
            error_code,
            error_message,
            current_leader,
        },
    );
    let topic =
        (ids(), vec(partition, 0..4)).prop_map(|(topic_id, partitions)| TopicAcknowledged {
            topic_id,
            partitions,
        });
    let endpoint =
        (numbers(), "[a-z.]{0,9}", numbers(), texts()).prop_map(|(node_id, host, port, rack)| {
            NodeEndpoint {
                node_id,
                host: host.into(),
                port,
                rack,
            }
        });
    let lists = (vec(topic, 0..3), vec(endpoint, 0..3));
    (numbers(), any::<i16>(), texts(), numbers(), lists).prop_map(
        |(throttle_time_ms, error_code, error_message, acquisition_lock_timeout_ms, lists)| {
            ShareAcknowledgeAnswer {
                throttle_time_ms,
                error_code,
                error_message,
                acquisition_lock_timeout_ms,
                responses: lists.0,
                node_endpoints: lists.1,
            }
        },
    )
}
