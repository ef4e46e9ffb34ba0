//! Fetch: the answers of Kafka's classes, and what is wrong with others.

use proptest::prelude::*;
use share_state_core::share_partition::AbortedTransaction;

use super::*;

/// Bytes before the body in these frames.
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

/// An answer in `version` of one topic that claims `claimed` partitions and is followed by `zeros` of them, and by the tags.
/// Zeros are the least partition: nothing is in it, and its arrays and records are empty or null.
fn least_partitions(version: i16, claimed: u8, zeros: usize) -> Vec<u8> {
    let topic: &[u8] = match version {
        13.. => &[0; 16],
        12 => &[1],
        _ => &[0; 2],
    };
    let tags: &[u8] = if version >= 12 { &[0; 2] } else { &[] };
    let (one, partitions) = (count(version, 1), count(version, claimed));
    framed(
        &[
            head(version),
            &one,
            topic,
            &partitions,
            &vec![0; zeros],
            tags,
        ]
        .concat(),
    )
}

/// An answer in `version` that claims `claimed` topics and holds `present` of the least.
fn least_topics(version: i16, claimed: u8, present: usize) -> Vec<u8> {
    let (topic, tags): (&[u8], &[u8]) = match version {
        13.. => (
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0],
            &[0],
        ),
        12 => (&[1, 1, 0], &[0]),
        _ => (&[0; 6], &[]),
    };
    let topics = count(version, claimed);
    framed(&[head(version), &topics, &topic.repeat(present), tags].concat())
}

const fn head(version: i16) -> &'static [u8] {
    if version >= 7 { &[0; 10] } else { &[0; 4] }
}

fn count(version: i16, count: u8) -> Vec<u8> {
    if version >= 12 {
        vec![count + 1]
    } else {
        vec![0, 0, 0, count]
    }
}

#[test]
fn as_many_topics_and_partitions_are_read_as_the_bytes_can_hold_and_no_more() {
    let kind = WireErrorKind::Count {
        count: 101,
        possible: 100,
    };
    let refused = |frame: &[u8], version| decode(frame, version).unwrap_err().kind;
    for (version, least) in [
        (4, 30),
        (5, 38),
        (10, 38),
        (11, 42),
        (12, 37),
        (13, 37),
        (17, 37),
    ] {
        let frame = least_partitions(version, 100, 100 * least);
        let read = decode(&frame, version).unwrap().partitions.len();
        assert_eq!(read, 100, "version {version}");
        let frame = least_partitions(version, 101, 100 * least);
        assert_eq!(refused(&frame, version), kind, "version {version}");
    }
    for version in [4, 11, 12, 13, 17] {
        let frame = least_topics(version, 100, 100);
        let read = decode(&frame, version).map(|answer| answer.partitions.len());
        assert_eq!(read, Ok(0), "version {version}");
        let frame = least_topics(version, 101, 100);
        assert_eq!(refused(&frame, version), kind, "version {version}");
    }
}

#[test]
fn a_hint_says_nothing_only_when_both_its_numbers_are_the_default() {
    let hints = |first: i32, second: i32| {
        let (first_bytes, last_bytes) = (first.to_be_bytes(), second.to_be_bytes());
        let epoch = [
            &[0, 13][..],
            &first_bytes,
            &i64::from(second).to_be_bytes(),
            &[0],
        ]
        .concat();
        let leader = [&[1, 9][..], &first_bytes, &last_bytes, &[0]].concat();
        let partition = [&[0; 36][..], &[2], &epoch, &leader].concat();
        let frame = framed(&[head(17), &[2], &[0; 16], &[2], &partition, &[0; 2]].concat());
        let read = &decode(&frame, 17).unwrap().partitions[0];
        (read.diverging_epoch, read.current_leader)
    };
    assert_eq!(hints(-1, -1), (None, None));
    for (first, second) in [(-1, 5), (5, -1), (1, 1), (1, -1), (-1, 1), (5, 6)] {
        let expected = (Some((first, i64::from(second))), Some((first, second)));
        assert_eq!(hints(first, second), expected);
    }
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
