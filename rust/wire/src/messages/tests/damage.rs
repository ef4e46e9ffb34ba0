//! Messages that are cut, damaged, too long or of another version.

use super::*;
use share_state_core::persister::WriteState;

#[test]
fn a_recorded_message_cut_anywhere_or_prolonged_is_refused() {
    for (key, version, request, mut bytes) in recorded() {
        for end in 0..bytes.len() {
            assert!(
                again(key, version, request, &bytes[..end]).is_err(),
                "{key} {end}"
            );
        }
        let count = bytes.len();
        bytes.push(0);
        let error = WireError::new(count, WireErrorKind::TrailingBytes { count: 1 });
        assert_eq!(again(key, version, request, &bytes), Err(error));
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_another_message() {
    let (mut valid, mut refused) = (0, 0);
    for (key, version, request, bytes) in recorded() {
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match again(key, version, request, &flipped) {
                Ok(written) => {
                    assert_eq!(again(key, version, request, &written), Ok(written));
                    valid += 1;
                }
                Err(error) => {
                    assert!(error.position <= bytes.len());
                    refused += 1;
                }
            }
        }
    }
    assert!(valid > 10_000 && refused > 2_000, "{valid} {refused}");
}

#[test]
fn unknown_versions_and_keys_are_told_apart_from_damage() {
    for (key, max) in [(83, 0), (84, 0), (85, 1), (86, 0), (87, 1)] {
        for version in [-1, max + 1, i16::MAX] {
            let error = AnyRequest::decode(key, version, &[]).unwrap_err();
            assert_eq!(error.kind, WireErrorKind::UnsupportedVersion { version });
            assert_eq!(AnyResponse::decode(key, version, &[]).unwrap_err(), error);
        }
        assert_eq!(
            AnyResponse::decode(key, max, &[1, 0]).unwrap().api_key(),
            key
        );
        assert_eq!(
            AnyRequest::decode(key, max, &[1, 1, 0]).unwrap().api_key(),
            key
        );
    }
    assert!(write_request(vec![]).encode(2).is_err());
    let error = AnyRequest::decode(82, 0, &[]).unwrap_err();
    assert_eq!(error.kind, WireErrorKind::UnsupportedApi { api_key: 82 });
}

#[test]
fn count_bombs_are_refused_at_every_array() {
    // The count of an 8-byte message that made another library reserve 3.6 GiB, in each of the three arrays.
    let count = 54_265_856;
    let count_bytes = [0x81, 0x90, 0xf0, 0x19];
    let topics = [&[1][..], &count_bytes].concat();
    let partitions = [&[1, 2][..], &[0; 16], &count_bytes].concat();
    let batches = [
        &[1, 2][..],
        &[0; 16],
        &[2],
        &[0; 24],
        &count_bytes,
        &[0; 39],
    ]
    .concat();
    for (bytes, position, possible) in [(topics, 1, 0), (partitions, 18, 0), (batches, 43, 1)] {
        let error = WriteRequest::decode(&bytes, 1).unwrap_err();
        assert_eq!(
            error,
            WireError::new(position, WireErrorKind::Count { count, possible })
        );
    }
    let tags = [1, 1, 0xff, 0xff, 0xff, 0xff, 0x07];
    let error = WriteRequest::decode(&tags, 1).unwrap_err();
    assert_eq!(
        error.kind,
        WireErrorKind::Count {
            count: i32::MAX as u64,
            possible: 0
        }
    );
    assert!(WriteRequest::decode(&[0x03, 0x00, 0x00, 0x03, 0x3c, 0x0c, 0x00, 0xb6], 1).is_err());
}

#[test]
fn elements_of_a_request_count_wherever_they_stand() {
    let partition = write_partition();
    let elements = 1 + 2 * (1 + partition.state_batches.len());
    let bytes = write_request(vec![partition.clone(), partition])
        .encode(1)
        .unwrap();
    let least = (0..).find(|most| WriteRequest::decode_within(&bytes, 1, *most).is_ok());
    assert_eq!(least, Some(elements));
}

#[test]
fn a_header_ends_after_its_tags() {
    assert_eq!(header_end(&[9, 9, 0, 7], 2), Ok(3));
    assert_eq!(header_end(&[9, 1, 5, 2, 7, 7, 8], 1), Ok(6));
    let late = header_end(&[9, 1, 5, 3, 7, 7], 1).unwrap_err();
    assert_eq!(late.position, 4);
    assert!(header_end(&[9], 2).is_err());
    let many = [&[0xff, 0x7f][..], &[0; 64 << 10]].concat();
    let kind = WireErrorKind::Count {
        count: 0x3fff,
        possible: 64,
    };
    assert_eq!(header_end(&many, 0), Err(WireError::new(0, kind)));
}

#[test]
fn the_least_size_of_an_element_is_that_of_its_smallest_form() {
    assert_eq!(<StateBatch as Field>::MIN_SIZE, 20);
    let empty = WritePartition {
        state_batches: vec![],
        ..write_partition()
    };
    assert_eq!(empty.size(0), Ok(WritePartition::MIN_SIZE));
    assert_eq!(empty.size(1), Ok(WritePartition::MIN_SIZE + 4));
    let topic = TopicPartitions::<WritePartition> {
        topic_id: TopicId::ZERO,
        partitions: vec![],
    };
    assert_eq!(
        topic.size(0),
        Ok(TopicPartitions::<WritePartition>::MIN_SIZE)
    );
}

#[test]
fn a_group_too_long_for_any_reader_is_not_written() {
    let request = WriteRequest {
        group_id: "g".repeat(32_768),
        topics: vec![],
    };
    let length = WireErrorKind::Length {
        length: 32_768,
        max: 32_767,
    };
    assert_eq!(request.encode(1).unwrap_err().kind, length);
    assert_eq!(
        encode_write_request::<&WriteState>(&request.group_id, &[], 1)
            .unwrap_err()
            .kind,
        length
    );
    let request = WriteRequest {
        group_id: "g".repeat(32_767),
        topics: vec![],
    };
    assert_eq!(
        WriteRequest::decode(&request.encode(1).unwrap(), 1),
        Ok(request)
    );
}
