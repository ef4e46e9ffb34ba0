//! Fetch: the answers of Kafka's classes, and what is wrong with others.

use proptest::prelude::*;
use share_state_core::share_partition::AbortedTransaction;

use super::*;

/// What stands before the body in these frames.
const BEFORE: &[u8] = &[0, 0, 0, 9, 0];

fn framed(body: &[u8]) -> Vec<u8> {
    [BEFORE, body].concat()
}

fn decode(frame: &[u8], version: i16) -> Result<FetchAnswer<'_>, WireError> {
    FetchAnswer::decode(frame, BEFORE.len(), version)
}

/// A partition that says nothing.
fn quiet(topic: TopicRef<'_>, partition: i32) -> FetchedPartition<'_> {
    FetchedPartition {
        topic,
        partition,
        error_code: 0,
        high_watermark: -1,
        last_stable_offset: -1,
        log_start_offset: -1,
        aborted: None,
        preferred_read_replica: -1,
        diverging_epoch: None,
        current_leader: None,
        records: 0..0,
    }
}

/// The recorded answer, but for the places of the records.
fn expected(version: i16) -> FetchAnswer<'static> {
    let since = |first: i16| version >= first;
    let topic = |index: usize| match version {
        13.. => TopicRef::Id(TOPICS[index]),
        _ => TopicRef::Name(["first", "second"][index]),
    };
    let aborted = |producer_id, first_offset| AbortedTransaction {
        producer_id,
        first_offset,
    };
    let endpoint = |node_id, host, port| FetchEndpoint {
        node_id,
        host,
        port,
    };
    FetchAnswer {
        throttle_time_ms: 12,
        error_code: 0,
        session_id: if since(7) { 77 } else { 0 },
        partitions: vec![
            FetchedPartition {
                high_watermark: 100,
                last_stable_offset: 90,
                log_start_offset: if since(5) { 5 } else { -1 },
                aborted: Some(vec![aborted(7, 80), aborted(9, 85)]),
                preferred_read_replica: if since(11) { 2 } else { -1 },
                ..quiet(topic(0), 0)
            },
            FetchedPartition {
                error_code: 6,
                diverging_epoch: since(12).then_some((3, 44)),
                current_leader: since(12).then_some((1, 8)),
                ..quiet(topic(0), 1)
            },
            FetchedPartition {
                high_watermark: 5,
                last_stable_offset: 5,
                aborted: Some(Vec::new()),
                ..quiet(topic(1), 4)
            },
        ],
        node_endpoints: if since(16) {
            vec![endpoint(1, "host", 9092), endpoint(2, "other", 9093)]
        } else {
            Vec::new()
        },
    }
}

#[test]
fn the_answers_of_kafkas_classes_read_in_every_version() {
    let mut read = 0;
    for (version, body) in recorded("1") {
        let frame = framed(&body);
        let mut answer = decode(&frame, version).unwrap();
        let records: Vec<_> = answer
            .partitions
            .iter_mut()
            .map(|partition| &frame[std::mem::take(&mut partition.records)])
            .collect();
        assert_eq!(records, [&b"abc"[..], b"", b""], "version {version}");
        assert_eq!(answer, expected(version), "version {version}");
        read += 1;
    }
    assert_eq!(read, 14);
}

#[test]
fn an_answer_cut_or_lengthened_anywhere_is_refused() {
    for (version, body) in recorded("1") {
        let frame = framed(&body);
        for end in 0..frame.len() {
            let refused = decode(&frame[..end], version);
            assert!(refused.is_err(), "version {version} cut at {end}");
        }
        let longer = framed(&[body.as_slice(), &[0]].concat());
        let trailing = WireErrorKind::TrailingBytes { count: 1 };
        assert_eq!(
            decode(&longer, version),
            Err(WireError::new(frame.len(), trailing))
        );
    }
}

#[test]
fn other_versions_are_refused() {
    for version in [-1, 0, 3, 18] {
        let kind = WireErrorKind::UnsupportedVersion { version };
        assert_eq!(decode(&[0; 64], version), Err(WireError::new(0, kind)));
    }
}

#[test]
fn a_count_is_checked_against_the_rest_before_anything_is_reserved() {
    let head = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let many = [0xff, 0xff, 0xff, 0xff, 0x07];
    let topics = framed(&[&head[..], &many, &[0; 30]].concat());
    let kind = WireErrorKind::Count {
        count: i32::MAX as u64 - 1,
        possible: 1,
    };
    assert_eq!(decode(&topics, 17), Err(WireError::new(15, kind)));
    let partitions = framed(&[&head[..], &[2], &[0; 16], &many, &[0; 40]].concat());
    assert_eq!(decode(&partitions, 17), Err(WireError::new(32, kind)));
    let legacy = framed(&[&[0; 4][..], &i32::MAX.to_be_bytes(), &[0; 12]].concat());
    let kind = WireErrorKind::Count {
        count: i32::MAX as u64,
        possible: 2,
    };
    assert_eq!(decode(&legacy, 4), Err(WireError::new(9, kind)));
}

#[test]
fn lengths_below_null_and_null_where_there_is_none_are_refused() {
    let frame = |length: i32| framed(&[&[0; 4][..], &length.to_be_bytes(), &[0; 12]].concat());
    let kind = WireErrorKind::Length {
        length: -2,
        max: i64::from(i32::MAX),
    };
    assert_eq!(decode(&frame(-2), 4), Err(WireError::new(9, kind)));
    assert_eq!(
        decode(&frame(-1), 4),
        Err(WireError::new(9, WireErrorKind::Null))
    );
}

proptest! {
    #[test]
    fn damaged_answers_are_refused_or_read_within_their_frame(
        which in 0usize..14, at in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>(),
    ) {
        let (version, body) = recorded("1").swap_remove(which);
        let mut frame = framed(&body);
        let at = at.index(frame.len());
        frame[at] = byte;
        frame.truncate(cut.index(frame.len() * 2));
        if let Ok(answer) = decode(&frame, version) {
            for partition in &answer.partitions {
                prop_assert!(partition.records.start <= partition.records.end);
                prop_assert!(partition.records.end <= frame.len());
            }
        }
    }
}
