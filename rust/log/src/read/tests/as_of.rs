//! Prefixes of logs.

use super::*;

/// A batch of one record.
fn single(offset: i64, timestamp: i64) -> Vec<u8> {
    let record = NewRecord {
        timestamp,
        key: Some(&[0, 255]),
        value: None,
    };
    encode_batch(offset, 3, Compression::None, &[record]).unwrap()
}

/// State partition 7 with two segments, offsets 0 to 5 and 6 to 8, and state partition 9 with offsets 0 and 1.
fn two_partitions() -> SimDisk {
    let disk = broker(&[
        (0, three_batches()),
        (6, [batch(6, 2), batch(8, 1)].concat()),
    ]);
    let folder = Path::new("/broker/__share_group_state-9");
    crate::disk::Disk::create_dir(&disk, folder).unwrap();
    disk.put(
        &folder.join(crate::layout::segment_name(0)),
        &[batch(0, 1), batch(1, 1)].concat(),
    );
    disk
}

/// State partitions and offsets of a prefix, and what is found.
fn prefix(disk: &SimDisk, as_of: AsOf) -> (Vec<(u32, i64)>, Vec<Finding>) {
    let scan = Scan::on(Arc::new(disk.clone()), Path::new("/broker")).unwrap();
    let mut scan = scan.as_of(as_of);
    let records: Vec<_> = scan.by_ref().map(Result::unwrap).collect();
    let at = scan.progress();
    assert_eq!(at.bytes_done, at.bytes_total);
    assert_eq!(at.partitions_done, at.partitions_total);
    let places = records
        .iter()
        .map(|record| (record.partition, record.offset))
        .collect();
    (places, scan.into_findings())
}

fn until(offset: i64) -> AsOf {
    AsOf {
        offset: Some(offset),
        ..AsOf::default()
    }
}

#[test]
fn every_offset_ends_the_prefix_of_each_state_partition() {
    let disk = two_partitions();
    let all = prefix(&disk, AsOf::default()).0;
    assert_eq!(all.len(), 11);
    for last in -1..10 {
        let expected: Vec<_> = all
            .iter()
            .copied()
            .filter(|(_, offset)| *offset <= last)
            .collect();
        assert_eq!(prefix(&disk, until(last)), (expected, vec![]), "{last}");
    }
}

#[test]
fn state_partitions_may_end_at_offsets_of_their_own() {
    let disk = two_partitions();
    for (seven, nine) in [(0, 0), (-1, 1), (5, 0), (6, -1), (8, 1)] {
        let as_of = AsOf {
            offsets: HashMap::from([(7, seven), (9, nine)]),
            ..AsOf::default()
        };
        let mut expected: Vec<_> = (0..=seven).map(|offset| (7, offset)).collect();
        expected.extend((0..=nine).map(|offset| (9, offset)));
        assert_eq!(prefix(&disk, as_of).0, expected);
    }
    let only_seven = AsOf {
        offset: Some(0),
        offsets: HashMap::from([(7, 1)]),
        ..AsOf::default()
    };
    assert_eq!(prefix(&disk, only_seven).0, [(7, 0), (7, 1), (9, 0)]);
}

#[test]
fn a_time_ends_before_the_first_record_that_is_later() {
    // The clock went back between the second and the third.
    let log = [single(0, 10), single(1, 30), single(2, 20), single(3, 40)].concat();
    let disk = broker(&[(0, log), (4, single(4, 15))]);
    let at = |timestamp| AsOf {
        timestamp: Some(timestamp),
        ..AsOf::default()
    };
    for (timestamp, records) in [(9, 0), (10, 1), (29, 1), (30, 3), (39, 3), (40, 5)] {
        assert_eq!(prefix(&disk, at(timestamp)).0.len(), records, "{timestamp}");
    }
    // Whichever comes first ends it.
    let both = AsOf {
        offset: Some(0),
        ..at(40)
    };
    assert_eq!(prefix(&disk, both).0, [(7, 0)]);
}

#[test]
fn what_is_bad_after_the_end_is_not_looked_at() {
    let mut log = three_batches();
    let length = log.len();
    // The last batch, offset 5.
    log[length - 10] ^= 1;
    let disk = broker(&[(0, log), (6, vec![1; 70])]);
    assert_eq!(prefix(&disk, until(4)).1, []);
    assert_eq!(prefix(&disk, until(5)).1.len(), 1);
    assert_eq!(prefix(&disk, until(6)).1.len(), 2);
}
