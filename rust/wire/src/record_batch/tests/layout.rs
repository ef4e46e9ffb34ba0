//! The bytes of a batch, its flags, and the ends of the offset space.

use proptest::prelude::*;

use super::*;

#[test]
fn a_batch_is_laid_out_as_kafka_does() {
    let bytes = encode_batch(1, 2, Compression::None, &[record(1000, b"k", Some(b"vw"))]).unwrap();
    let mut expected = vec![0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 59, 0, 0, 0, 2, 2];
    expected.extend(crc32c::crc32c(&bytes[21..]).to_be_bytes());
    expected.extend([0; 6]);
    expected.extend([0, 0, 0, 0, 0, 0, 0x03, 0xe8, 0, 0, 0, 0, 0, 0, 0x03, 0xe8]);
    expected.extend([0xff; 10]);
    expected.extend([0; 4]);
    expected.extend([0, 0, 0, 1, 18, 0, 0, 0, 2, b'k', 4, b'v', b'w', 0]);
    assert_eq!(bytes, expected);
}

#[test]
fn a_producer_writes_its_numbers_and_headers() {
    let producer = Producer {
        id: 7,
        epoch: 1,
        base_sequence: 9,
    };
    let headers: Vec<RecordHeader<'_>> = vec![(b"n", Some(b"1")), (b"n", None)];
    let records = [
        (record(5, b"k", Some(b"v")), headers.clone()),
        (record(4, b"k", None), vec![]),
    ];
    for codec in Compression::ALL {
        let bytes = encode_produced_batch(producer, codec, &records).unwrap();
        let batch = decode(&bytes).unwrap();
        let header = &batch.header;
        let numbers = (
            header.producer_id,
            header.producer_epoch,
            header.base_sequence,
        );
        assert_eq!(numbers, (7, 1, 9));
        assert_eq!((header.base_offset, header.max_timestamp), (0, 5));
        let back: Vec<_> = batch.records().collect();
        assert_eq!(back[0].headers().collect::<Vec<_>>(), headers);
        assert_eq!((back[0].timestamp, back[0].value), (5, Some(&b"v"[..])));
        assert_eq!((back[1].timestamp, back[1].headers().count()), (4, 0));
    }
}

#[test]
fn offsets_end_where_the_offset_space_does() {
    let good = [12, 0, 0, 0, 1, 1, 0];
    let last = framed(|h| h.base_offset = i64::MAX, &good);
    assert_eq!(
        decode(&last).unwrap().records().next().unwrap().offset,
        i64::MAX
    );
    let next = [12, 0, 0, 2, 1, 1, 0];
    let beyond = framed(
        |h| (h.base_offset, h.last_offset_delta) = (i64::MAX, 1),
        &next,
    );
    assert_eq!(kind(&beyond), WireErrorKind::Overflow);
    let records = [record(0, b"k", None); 2];
    let error = encode_batch(i64::MAX, 0, Compression::None, &records).unwrap_err();
    assert_eq!(error.kind, WireErrorKind::Overflow);
    assert!(encode_batch(i64::MAX, 0, Compression::None, &records[..1]).is_ok());
}

#[test]
fn a_batch_may_be_left_empty_by_a_cleaner_but_is_not_written_so() {
    let empty = framed(|h| h.records_count = 0, &[]);
    assert_eq!(decode(&empty).unwrap().records().len(), 0);
    let error = encode_batch(0, 0, Compression::None, &[]).unwrap_err();
    assert_eq!(error.kind, WireErrorKind::EmptyBatch);
    let records = [record(i64::MIN, b"k", None), record(i64::MAX, b"k", None)];
    let error = encode_batch(0, 0, Compression::None, &records).unwrap_err();
    assert_eq!(error.kind, WireErrorKind::Overflow);
}

#[test]
fn flags_are_told() {
    let good = [12, 0, 2, 0, 1, 1, 0];
    let plain = framed(|_| (), &good);
    let plain = decode(&plain).unwrap();
    assert!(!plain.is_control && !plain.header.is_transactional());
    assert_eq!(plain.records().next().unwrap().timestamp, 6);
    let marked = framed(|h| (h.attributes, h.max_timestamp) = (0x38, 77), &good);
    let marked = decode(&marked).unwrap();
    assert!(marked.is_control && marked.header.is_transactional());
    assert_eq!(marked.records().next().unwrap().timestamp, 77);
}

#[test]
fn headers_of_records_are_told_in_their_order() {
    // Two headers: "a" = null, "b" = "c".
    let section = [26, 0, 0, 0, 1, 1, 4, 2, b'a', 1, 2, b'b', 2, b'c'];
    let headers = |section: &[u8]| {
        let bytes = framed(|_| (), section);
        let batch = decode(&bytes).unwrap();
        let record = batch.records().next().unwrap();
        let told = record.headers();
        let told = told.map(|(name, value)| (name.to_vec(), value.map(<[u8]>::to_vec)));
        (record.headers_count, told.collect::<Vec<_>>())
    };
    let second = (b"b".to_vec(), Some(b"c".to_vec()));
    assert_eq!(
        headers(&section),
        (2, vec![(b"a".to_vec(), None), second.clone()])
    );
    assert_eq!(headers(&[12, 0, 0, 0, 1, 1, 0]), (0, Vec::new()));
    // A name that is not UTF-8 hides no record.
    let mut odd = section;
    odd[8] = 0xff;
    assert_eq!(headers(&odd), (2, vec![(vec![0xff], None), second]));
    // Seven bytes follow the count: three headers at most.
    let mut more = section;
    more[6] = 8;
    let four = WireErrorKind::Count {
        count: 4,
        possible: 3,
    };
    assert_eq!(kind(&framed(|_| (), &more)), four);
    let null_key = [18, 0, 0, 0, 1, 1, 2, 1, 1, 0];
    let negative = WireErrorKind::Length {
        length: -1,
        max: 0x7fff_ffff,
    };
    assert_eq!(kind(&framed(|_| (), &null_key)), negative);
}

proptest! {
    #[test]
    fn every_batch_comes_back(
        base_offset in 0..1i64 << 40, leader_epoch: i32, codec in 0u8..5,
        records in prop::collection::vec(
            (0..1i64 << 50, prop::option::of(prop::collection::vec(any::<u8>(), 0..40)),
             prop::option::of(prop::collection::vec(any::<u8>(), 0..300))), 1..30),
    ) {
        let new: Vec<_> = records.iter().map(|(timestamp, key, value)| NewRecord {
            timestamp: *timestamp, key: key.as_deref(), value: value.as_deref(),
        }).collect();
        let codec = Compression::from_codec(codec).unwrap();
        let bytes = encode_batch(base_offset, leader_epoch, codec, &new).unwrap();
        if codec == Compression::None {
            prop_assert_eq!(bytes.capacity(), bytes.len());
        }
        let batch = decode(&bytes).unwrap();
        prop_assert_eq!(batch.header.partition_leader_epoch, leader_epoch);
        let back: Vec<_> = batch.records().map(|r| NewRecord {
            timestamp: r.timestamp, key: r.key, value: r.value,
        }).collect();
        prop_assert_eq!(back, new);
        let offsets: Vec<_> = batch.records().map(|r| r.offset - base_offset).collect();
        prop_assert_eq!(offsets, (0..records.len() as i64).collect::<Vec<_>>());
    }
}
