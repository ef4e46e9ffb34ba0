//! Files in the place of others: segments of another state partition or of another store, what another store says of itself.

use share_state_wire::record_batch::{Compression, Limits, NewRecord, decode_batch, encode_batch};

use super::*;
use crate::corrupt::{CorruptKind, CorruptLog};
use crate::home::{read_meta, write_meta};
use crate::mark::Marks;
use crate::trials::changes::names;

fn two_partitions() -> StoreConfig {
    StoreConfig {
        partitions: Some(2),
        ..config()
    }
}

/// A store with this many states in two state partitions.
fn with_states(number: i32, is_closed: bool) -> (SimDisk, States) {
    marked_with_states(0, number, is_closed)
}

/// The same, with marks of its own.
fn marked_with_states(mark: i32, number: i32, is_closed: bool) -> (SimDisk, States) {
    let disk = SimDisk::default();
    disk.number_marks_from(mark);
    let store = open(&disk, &two_partitions()).unwrap();
    for (now, key) in (0..).zip(0..number) {
        Command::Initialize(key).run(&store, now * TICK).unwrap();
    }
    let states = store.states().unwrap();
    if is_closed {
        store.close().unwrap();
    }
    // Before the store is dropped, which closes it.
    (disk.copy(), states)
}

#[test]
fn a_file_in_the_place_of_another_is_refused_or_changes_no_answer() {
    let (mut refused, mut same) = (0, 0);
    for is_closed in [true, false] {
        let (disk, states) = with_states(9, is_closed);
        let mut others: Vec<_> = disk.files().into_values().collect();
        for number in [5, 9, 12] {
            let other = marked_with_states(100, number, is_closed).0;
            let files = other.files().into_iter();
            others.extend(files.map(|(_, bytes)| bytes));
        }
        for (path, whole) in disk.files() {
            for bytes in others.iter().filter(|bytes| **bytes != whole) {
                let image = disk.copy();
                image.put(&path, bytes);
                let before = image.files();
                match open(&image, &two_partitions()) {
                    Ok(store) => {
                        assert_eq!(store.states().unwrap(), states, "{}", path.display());
                        assert_eq!(store.recovery().torn, []);
                        same += 1;
                    }
                    Err(error) => {
                        assert!(
                            names(&error.to_string(), &path),
                            "{}: {error}",
                            path.display()
                        );
                        assert_eq!(image.files(), before);
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused >= 28, "{refused} refused, {same} the same");
    assert_eq!(same, 0);
}

/// Each state partition is a log of its own from offset 0, so another one's can be read. It was taken for this one's, and every
/// share partition of both had no state.
#[test]
fn the_log_of_another_state_partition_is_refused() {
    let (disk, states) = with_states(9, false);
    assert_eq!(states.len(), 9);
    let [one, other] = [0, 1].map(|partition| disk.bytes(&segment(partition, 0)));
    disk.put(&segment(0, 0), &other);
    disk.put(&segment(1, 0), &one);
    let told = damages(&disk, &two_partitions());
    let kinds: Vec<_> = told.iter().map(|damage| &damage.corrupt.kind).collect();
    let belongs = |partition| CorruptKind::StatePartition {
        offset: 0,
        partition,
    };
    assert_eq!(kinds, [&belongs(1), &belongs(0)]);
}

/// Logs of the same states, written by the same commands at the same times: not a byte differed, closed or not.
#[test]
fn the_logs_of_another_store_are_refused() {
    for is_closed in [true, false] {
        let (disk, states) = marked_with_states(0, 9, is_closed);
        let (other, others) = marked_with_states(100, 9, is_closed);
        assert_eq!(states, others);
        for partition in [0, 1] {
            disk.put(&segment(partition, 0), &other.bytes(&segment(partition, 0)));
        }
        let told = damages(&disk, &two_partitions());
        for (partition, damage) in (0..).zip(&told) {
            let CorruptLog {
                segment: path,
                position,
                kind,
            } = &damage.corrupt;
            assert_eq!((path, *position), (&segment(partition, 0), 0));
            let expected = CorruptKind::OtherStore {
                found: 101,
                mark: 1,
            };
            assert_eq!(*kind, expected);
        }
        assert_eq!(told.len(), 2);
    }
}

/// A store as it was written before there were marks.
fn without_marks(disk: &SimDisk) -> SimDisk {
    let old = disk.copy();
    for (path, bytes) in disk.files() {
        if path.extension().is_none_or(|extension| extension != "log") {
            continue;
        }
        let mut ends = boundaries(&bytes);
        ends.push(bytes.len());
        ends.dedup();
        let mut written = Vec::new();
        for pair in ends.windows(2) {
            let batch = decode_batch(&bytes[pair[0]..pair[1]], &Limits::default()).unwrap();
            let records: Vec<_> = batch
                .records()
                .map(|record| NewRecord {
                    timestamp: record.timestamp,
                    key: record.key,
                    value: record.value,
                })
                .collect();
            let base_offset = batch.header.base_offset;
            written.extend(encode_batch(base_offset, 0, Compression::None, &records).unwrap());
        }
        old.put(&path, &written);
    }
    let mut meta = read_meta(&old, Path::new(ROOT)).unwrap().unwrap();
    meta.marks = None;
    write_meta(&old, Path::new(ROOT), &meta).unwrap();
    old
}

#[test]
fn an_older_store_gets_a_mark_when_it_is_opened_for_writing() {
    let (disk, states) = marked_with_states(0, 9, true);
    let (other, _) = marked_with_states(100, 9, true);
    let old = without_marks(&disk);
    let (number, since) = {
        let store = open(&old, &two_partitions()).unwrap();
        assert_eq!(store.states().unwrap(), states);
        for key in [20, 21, 22, 23] {
            Command::Initialize(key).run(&store, 10_000).unwrap();
        }
        let meta = read_meta(&old, Path::new(ROOT)).unwrap().unwrap();
        let Some(Marks { number, since }) = meta.marks else {
            panic!("no mark")
        };
        store.close().unwrap();
        (number, since)
    };
    assert_eq!(since.iter().sum::<i64>(), 9);
    let store = open(&old, &two_partitions()).unwrap();
    assert_eq!(store.states().unwrap().len(), 13);
    store.close().unwrap();
    drop(store);
    // What has a mark is told from then on; what has none, where there should be one.
    for foreign in [&other, &without_marks(&old)] {
        let image = old.copy();
        image.put(&segment(0, 0), &foreign.bytes(&segment(0, 0)));
        let told = damages(&image, &two_partitions());
        let CorruptKind::OtherStore { found, mark } = told[0].corrupt.kind else {
            panic!("{told:?}")
        };
        assert!([0, 101].contains(&found) && mark == number, "{told:?}");
    }
}
