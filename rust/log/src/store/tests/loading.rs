//! Counts of a load, and its reports while it lasts.

use share_state_core::records::ShareRecord;
use share_state_wire::partitioner::state_partition;
use share_state_wire::record_batch::{Compression, NewRecord, encode_marked_batch};

use super::sizes::large;
use super::*;
use crate::progress::Progress;
use crate::store::Recovery;

const PARTITIONS: u32 = 2;

fn two_partitions() -> StoreConfig {
    StoreConfig {
        partitions: Some(PARTITIONS),
        ..config()
    }
}

/// An empty store whose writer was killed.
fn killed_with_two_partitions() -> SimDisk {
    let disk = SimDisk::default();
    let store = open(&disk, &two_partitions()).unwrap();
    let image = disk.copy();
    drop(store);
    image
}

/// Records of a type that nobody knows.
fn unknown(base_offset: i64, records: usize) -> Vec<u8> {
    let record = NewRecord {
        timestamp: 1,
        key: Some(&[0, 255]),
        value: None,
    };
    encode_marked_batch(base_offset, 0, 1, Compression::None, &vec![record; records]).unwrap()
}

/// A marker.
fn control(base_offset: i64) -> Vec<u8> {
    const ATTRIBUTES: usize = 22;
    const CHECKED_FROM: usize = 21;
    let mut batch = unknown(base_offset, 1);
    batch[ATTRIBUTES] |= 0x20;
    let crc = crc32c::crc32c(&batch[CHECKED_FROM..]);
    batch[17..CHECKED_FROM].copy_from_slice(&crc.to_be_bytes());
    batch
}

#[test]
fn what_was_read_of_every_log_is_counted() {
    let disk = killed_with_two_partitions();
    let one = [unknown(0, 2), control(2), unknown(3, 1)];
    let other = [unknown(0, 1), control(1), control(2), unknown(3, 4)];
    disk.put(&segment(0, 0), &one.concat());
    disk.put(&segment(1, 0), &other.concat());
    let store = open(&disk, &two_partitions()).unwrap();
    let expected = Recovery {
        records: 3 + 5,
        batches: 3 + 4,
        unknown_types: 3 + 5,
        control_batches: 1 + 2,
        ..Recovery::default()
    };
    assert_eq!(store.recovery(), &expected);
    assert_eq!(store.states().unwrap(), []);
}

/// Five large batches in each state partition: the call comes with every second one, and says what was read up to there.
#[test]
fn a_long_load_tells_about_once_a_mebibyte_how_far_it_is() {
    let disk = SimDisk::default();
    let store = open(&disk, &two_partitions()).unwrap();
    let mut records = [0, 0];
    for record in (0..).map(|n| large(n, 600_000)) {
        let partition = state_partition(&record.key, PARTITIONS);
        let written = &mut records[partition as usize];
        if *written < 5 {
            append(&store, partition, record);
            *written += 1;
        }
        if records == [5, 5] {
            break;
        }
    }
    drop(store);
    let mut expected = Vec::new();
    let ends = [0, 1].map(|partition| boundaries(&disk.bytes(&segment(partition, 0))));
    let bytes_total = (ends[0][5] + ends[1][5]) as u64;
    let mut before = 0;
    for (partitions_done, ends) in (0..).zip(&ends) {
        let records_before = u64::from(partitions_done) * 5;
        expected.extend([0, 2, 4].map(|batches: usize| Progress {
            partitions_done,
            partitions_total: PARTITIONS,
            bytes_done: before + ends[batches] as u64,
            bytes_total,
            records: records_before + batches as u64,
        }));
        before += ends[5] as u64;
    }
    expected.push(Progress {
        partitions_done: PARTITIONS,
        partitions_total: PARTITIONS,
        bytes_done: bytes_total,
        bytes_total,
        records: 10,
    });
    let mut told = Vec::new();
    let mut tell = |progress| {
        told.push(progress);
        ControlFlow::Continue(())
    };
    let root = Path::new(ROOT);
    let store = StateStore::open_on(Arc::new(disk.clone()), root, &two_partitions(), &mut tell);
    assert_eq!(store.unwrap().states().unwrap().len(), 10);
    assert_eq!(told, expected);
}

fn append(store: &StateStore, partition: u32, record: ShareRecord) {
    let partition = &store.inner.partitions[partition as usize];
    let written = partition.append_each(WallTime(0), |_| vec![record]);
    assert_eq!(written, Ok(1));
}
