//! ShareFetch: the bytes of Kafka's classes, and what cannot be written.

use std::borrow::Cow;

use share_state_core::offset::OffsetRange;
use share_state_core::share_partition::AcquiredRange;

use super::*;
use crate::messages::share::NodeEndpoint;

fn acquired(first: i64, last: i64, delivery_count: i16) -> AcquiredRange {
    AcquiredRange {
        range: OffsetRange { first, last },
        delivery_count,
    }
}

fn partition<'a>(
    topic_id: TopicId,
    partition: i32,
    records: &[&'a [u8]],
    acquired: &'a [AcquiredRange],
) -> ShareFetchPartition<'a> {
    ShareFetchPartition {
        topic_id,
        partition,
        error_code: 0,
        acknowledge_error_code: 0,
        current_leader: (-1, -1),
        records: records.to_vec(),
        acquired,
    }
}

fn empty() -> ShareFetchAnswer<'static> {
    ShareFetchAnswer {
        correlation_id: 9,
        throttle_time_ms: 0,
        error_code: 122,
        error_message: Some("no such session"),
        acquisition_lock_timeout_ms: 15_000,
        partitions: Vec::new(),
        node_endpoints: Vec::new(),
    }
}

/// The answer as a frame: its length, the header, the body.
fn written(answer: ShareFetchAnswer<'_>, version: i16) -> Vec<u8> {
    let frame = answer.frame(version).unwrap();
    let mut out = vec![0xee; frame.size()];
    frame.write(&mut out);
    out
}

fn framed(body: &[u8]) -> Vec<u8> {
    let length = (body.len() as i32 + 5).to_be_bytes();
    [&length[..], &[0, 0, 0, 9, 0], body].concat()
}

#[test]
fn the_bytes_are_those_of_kafkas_classes() {
    let (two, one) = (
        [acquired(3, 9, 1), acquired(10, 1 << 40, 2)],
        [acquired(0, 0, 5)],
    );
    let long = [b'x'; 200];
    let endpoint = |node_id, host, port, rack: Option<_>| NodeEndpoint {
        node_id,
        host: Cow::Borrowed(host),
        port,
        rack: rack.map(Cow::Borrowed),
    };
    let answer = ShareFetchAnswer {
        throttle_time_ms: 12,
        error_code: 0,
        error_message: None,
        acquisition_lock_timeout_ms: 30_000,
        partitions: vec![
            partition(TOPICS[0], 0, &[b"abc", b"", b"def"], &two),
            // Another topic between two partitions of one.
            partition(TOPICS[1], 4, &[&long], &one),
            ShareFetchPartition {
                error_code: 6,
                acknowledge_error_code: 121,
                current_leader: (1, 8),
                ..partition(TOPICS[0], 1, &[], &[])
            },
        ],
        node_endpoints: vec![
            endpoint(1, "host", 9092, Some("rack")),
            endpoint(2, "other", 9093, None),
        ],
        ..empty()
    };
    let recorded = recorded("78");
    assert_eq!(recorded.len(), 4);
    for (version, body) in &recorded[..2] {
        assert_eq!(
            written(answer.clone(), *version),
            framed(body),
            "version {version}"
        );
    }
    for (version, body) in &recorded[2..] {
        assert_eq!(
            written(empty(), *version),
            framed(body),
            "version {version}"
        );
    }
}

#[test]
fn the_bytes_are_the_same_however_the_partitions_of_a_topic_stand() {
    let held = [acquired(3, 9, 1)];
    let [a, b, other] = [(0, 0), (0, 1), (1, 4)]
        .map(|(topic, number)| partition(TOPICS[topic], number, &[b"abc"], &held));
    let answer = |partitions: Vec<_>| ShareFetchAnswer {
        partitions,
        ..empty()
    };
    let together = written(answer(vec![a.clone(), b.clone(), other.clone()]), 2);
    assert_eq!(together, written(answer(vec![a, other, b]), 2));
    // A topic is its id, a count and its tags; a partition 21 bytes, its records and the range.
    let partition = 21 + 4 + 19;
    assert_eq!(
        together.len(),
        written(empty(), 2).len() + 2 * 18 + 3 * partition
    );
}

#[test]
fn other_versions_are_refused() {
    for version in [-1, 0, 3] {
        let kind = WireErrorKind::UnsupportedVersion { version };
        assert_eq!(
            empty().frame(version).unwrap_err(),
            WireError::unwritable(kind)
        );
    }
}

#[test]
fn a_text_that_no_reader_takes_is_refused() {
    let long = "x".repeat(32_768);
    let kind = WireErrorKind::Length {
        length: 32_768,
        max: 32_767,
    };
    let message = ShareFetchAnswer {
        error_message: Some(&long),
        ..empty()
    };
    let node = |host, rack: Option<_>| NodeEndpoint {
        node_id: 1,
        host: Cow::Borrowed(host),
        port: 1,
        rack: rack.map(Cow::Borrowed),
    };
    let mut answers = vec![message];
    for node in [node(long.as_str(), None), node("", Some(long.as_str()))] {
        answers.push(ShareFetchAnswer {
            node_endpoints: vec![node],
            ..empty()
        });
    }
    for answer in answers {
        assert_eq!(answer.frame(1).unwrap_err(), WireError::unwritable(kind));
    }
}

#[test]
fn a_frame_longer_than_its_length_can_say_is_refused() {
    let large = vec![0; 1 << 20];
    let pieces = vec![large.as_slice(); 2_048];
    let answer = ShareFetchAnswer {
        partitions: vec![partition(TOPICS[0], 0, &pieces, &[])],
        ..empty()
    };
    let kind = WireErrorKind::Limit {
        allowed: i32::MAX as usize,
    };
    assert_eq!(answer.frame(1).unwrap_err(), WireError::unwritable(kind));
}

#[test]
fn memory_of_another_size_is_filled_as_far_as_it_goes() {
    let frame = empty().frame(1).unwrap();
    let mut larger = vec![0xee; frame.size() + 3];
    frame.write(&mut larger);
    assert_eq!(larger[frame.size()..], [0xee; 3]);
    let mut smaller = vec![0xee; 3];
    frame.write(&mut smaller);
    assert_eq!(smaller, [0xee; 3]);
}
