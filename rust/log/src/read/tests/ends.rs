//! Begin and end of a log.

use super::*;
use crate::read::ends::{LogEnds, ends_on};

fn ends(disk: &SimDisk) -> Vec<LogEnds> {
    ends_on(disk, Path::new("/broker")).unwrap()
}

const fn one(first_offset: i64, next_offset: i64) -> LogEnds {
    LogEnds {
        partition: 7,
        first_offset,
        next_offset,
    }
}

#[test]
fn a_log_ends_after_the_last_batch_of_its_last_segment() {
    let disk = broker(&[(0, three_batches()), (6, batch(6, 4)), (10, batch(10, 1))]);
    assert_eq!(ends(&disk), [one(0, 11)]);
    let pruned = broker(&[(6, batch(6, 4))]);
    assert_eq!(ends(&pruned), [one(6, 10)]);
}

#[test]
fn an_empty_last_segment_ends_where_it_begins() {
    let disk = broker(&[(0, three_batches()), (6, Vec::new())]);
    assert_eq!(ends(&disk), [one(0, 6)]);
}

#[test]
fn a_torn_tail_is_not_part_of_the_log_yet() {
    let mut bytes = three_batches();
    bytes.truncate(bytes.len() - 1);
    assert_eq!(ends(&broker(&[(0, bytes)])), [one(0, 5)]);
}

#[test]
fn whole_batches_after_damage_are_part_of_the_log() {
    let mut bytes = three_batches();
    // Inside the records of the first batch, so that its checksum is wrong.
    bytes[70] ^= 1;
    assert_eq!(ends(&broker(&[(0, bytes)])), [one(0, 6)]);
}

#[test]
fn nothing_of_the_state_topic_is_an_error() {
    let disk = SimDisk::default();
    assert!(matches!(
        ends_on(&disk, Path::new("/elsewhere")),
        Err(ScanError::NoStateLog { .. } | ScanError::Io(_))
    ));
}
