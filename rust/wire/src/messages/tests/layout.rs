//! The bytes of messages.

use proptest::prelude::*;
use share_state_core::persister::WriteState;

use super::*;

#[test]
fn recorded_messages_come_back_byte_for_byte() {
    let mut rpcs = std::collections::BTreeSet::new();
    for (key, version, request, bytes) in recorded() {
        assert_eq!(again(key, version, request, &bytes), Ok(bytes));
        rpcs.insert((key, request));
    }
    assert_eq!(rpcs.len(), 10);
}

#[test]
fn the_layout_of_a_write_is_kafkas_in_both_versions() {
    let request = write_request(vec![write_partition()]);
    let head = [
        &[3, b'G', b'1', 2][..],
        &[7; 16],
        &[2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2],
        &[0xff; 8],
    ]
    .concat();
    let batch = [&[2][..], &[0; 15], &[9, 2, 0, 1, 0], &[0, 0, 0]].concat();
    let v1 = [&head[..], &[0, 0, 0, 10], &batch].concat();
    let v0 = [&head[..], &batch].concat();
    assert_eq!(request.encode(1), Ok(v1.clone()));
    assert_eq!(request.encode(0), Ok(v0.clone()));
    assert_eq!(WriteRequest::decode(&v1, 1), Ok(request.clone()));
    let mut older = request;
    older.topics[0].partitions[0].delivery_complete_count = -1;
    assert_eq!(WriteRequest::decode(&v0, 0), Ok(older));
}

#[test]
fn tagged_fields_are_skipped_wherever_they_may_stand() {
    let tag = [1, 5, 2, 0xaa, 0xbb];
    let partition = [&[0, 0, 0, 9][..], &tag].concat();
    let topic = [&[0; 16][..], &[2], &partition, &tag].concat();
    let message = [&[2, b'g', 2][..], &topic, &tag].concat();
    let request = DeleteRequest::decode(&message, 0).unwrap();
    assert_eq!(
        request.topics[0].partitions,
        [DeletePartition { partition: 9 }]
    );
    assert_eq!(request.encode(0).unwrap().len(), message.len() - 3 * 4);
}

#[test]
fn a_state_batch_alone_takes_the_bytes_of_one_in_an_array() {
    let batch = write_partition().state_batches;
    let (mut alone, mut array) = (Vec::new(), Vec::new());
    batch[0].write(&mut alone, 1);
    batch.write(&mut array, 1);
    assert_eq!(array, [&[2], &alone[..]].concat());
    assert_eq!(batch[0].size(1), Ok(alone.len()));
}

fn any_write() -> impl Strategy<Value = WritePartition> {
    let batch =
        any::<(i64, i64, i8, i16)>().prop_map(|(first_offset, last_offset, state, count)| {
            StateBatch {
                first_offset,
                last_offset,
                delivery_state: state,
                delivery_count: count,
            }
        });
    (
        any::<(i32, i32, i32, i64, i32)>(),
        prop::collection::vec(batch, 0..200),
    )
        .prop_map(
            |((partition, state_epoch, leader_epoch, start_offset, count), state_batches)| {
                WritePartition {
                    partition,
                    state_epoch,
                    leader_epoch,
                    start_offset,
                    delivery_complete_count: count,
                    state_batches,
                }
            },
        )
}

proptest! {
    #[test]
    fn writes_come_back_and_the_borrowed_form_has_the_same_bytes(
        group_id in "\\PC{0,20}", version in 0i16..2,
        mut topics in prop::collection::vec((any::<[u8; 16]>(), prop::collection::vec(any_write(), 0..4)), 0..3),
    ) {
        if version == 0 {
            for write in topics.iter_mut().flat_map(|topic| &mut topic.1) {
                write.delivery_complete_count = -1;
            }
        }
        let request = WriteRequest {
            group_id: group_id.clone(),
            topics: topics.iter().map(|(id, partitions)| TopicPartitions {
                topic_id: TopicId(*id), partitions: partitions.clone(),
            }).collect(),
        };
        let bytes = request.encode(version).unwrap();
        prop_assert_eq!(bytes.capacity(), bytes.len());
        prop_assert_eq!(WriteRequest::decode(&bytes, version), Ok(request));

        let states: Vec<(TopicId, Vec<(i32, WriteState)>)> = topics.into_iter().map(|(id, partitions)| {
            (TopicId(id), partitions.into_iter().map(|p| (p.partition, WriteState {
                state_epoch: p.state_epoch,
                leader_epoch: p.leader_epoch,
                start_offset: p.start_offset,
                delivery_complete_count: p.delivery_complete_count,
                state_batches: p.state_batches,
            })).collect())
        }).collect();
        let refs: Vec<(TopicId, Vec<(i32, &WriteState)>)> = states.iter()
            .map(|(id, p)| (*id, p.iter().map(|(n, w)| (*n, w)).collect())).collect();
        let borrowed: Vec<(TopicId, &[(i32, &WriteState)])> = refs.iter().map(|(id, p)| (*id, &p[..])).collect();
        let written = encode_write_request(&group_id, &borrowed, version).unwrap();
        prop_assert_eq!(written.capacity(), written.len());
        prop_assert_eq!(written, bytes);
    }

    #[test]
    fn results_come_back(
        topic: [u8; 16], partition: i32, error_code: i16, error_message in prop::option::of("\\PC{0,20}"),
        state_epoch: i32, leader_epoch: i32, start_offset: i64, count: i32, write in any_write(),
    ) {
        let topic_id = TopicId(topic);
        let result = PartitionResult { partition, error_code, error_message: error_message.clone() };
        let message = WriteResponse { results: vec![TopicPartitions { topic_id, partitions: vec![result] }] };
        prop_assert_eq!(WriteResponse::decode(&message.encode(1).unwrap(), 1), Ok(message));
        let result = ReadPartitionResult {
            partition, error_code, error_message: error_message.clone(), state_epoch, start_offset,
            state_batches: write.state_batches,
        };
        let message = ReadResponse { results: vec![TopicPartitions { topic_id, partitions: vec![result] }] };
        prop_assert_eq!(ReadResponse::decode(&message.encode(0).unwrap(), 0), Ok(message));
        let result = SummaryPartitionResult {
            partition, error_code, error_message, state_epoch, leader_epoch, start_offset,
            delivery_complete_count: count,
        };
        let message = ReadSummaryResponse { results: vec![TopicPartitions { topic_id, partitions: vec![result] }] };
        let bytes = message.encode(1).unwrap();
        prop_assert_eq!(bytes.capacity(), bytes.len());
        prop_assert_eq!(ReadSummaryResponse::decode(&bytes, 1), Ok(message));
    }
}
