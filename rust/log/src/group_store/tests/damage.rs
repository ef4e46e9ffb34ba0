//! A log that is damaged other than by a crash is refused, and nothing of it is changed.

use super::*;
use crate::corrupt::CorruptKind;

#[test]
fn every_flipped_bit_before_the_last_batch_is_found() {
    let config = GroupStoreConfig::default();
    let (disk, _) = history(&config, &script()[..4]);
    let bytes = disk.bytes(&segment(0));
    let last = {
        let mut at = 0;
        let mut begins = 0;
        while let Some(size) = share_state_wire::record_batch::peek_size(&bytes[at..]).unwrap() {
            begins = at;
            at += size;
        }
        begins
    };
    let mut refused = 0;
    for at in 0..last {
        for bit in [0, 3, 7] {
            let image = disk.copy();
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            image.put(&segment(0), &flipped);
            let error = open(&image, &config).unwrap_err();
            assert!(
                matches!(error, OpenError::Damaged(_)),
                "bit {bit} of byte {at}: {error}"
            );
            assert_eq!(image.bytes(&segment(0)), flipped);
            refused += 1;
        }
    }
    assert!(refused > 1_500, "{refused}");
}

#[test]
fn a_rewritten_log_without_its_beginning_is_refused() {
    let config = GroupStoreConfig {
        segment_bytes: 1024,
        rewrite_bytes: 1500,
        ..GroupStoreConfig::default()
    };
    let (disk, _) = history(&config, &script());
    let segments: Vec<_> = disk
        .files()
        .into_keys()
        .filter(|path| path.extension().is_some_and(|e| e == "log"))
        .collect();
    assert!(segments.len() > 1, "{segments:?}");
    disk.take(&segments[0]);
    let error = open(&disk, &config).unwrap_err();
    let OpenError::Corrupt(corrupt) = &error else {
        panic!("{error}")
    };
    assert!(
        matches!(corrupt.kind, CorruptKind::MissingSegment { .. }),
        "{corrupt}"
    );
}

#[test]
fn a_record_that_cannot_be_read_is_named() {
    use share_state_wire::record_batch::{Compression, NewRecord, encode_marked_batch};
    let config = GroupStoreConfig::default();
    for (key, value) in [
        (&b"\x00\x0b\x00\x01g"[..], &b"\x00\x01"[..]),
        (b"\x00\x0b\x00\x00", b"\x00\x00"),
        (b"\x00", b"\x00\x00"),
    ] {
        let (disk, _) = history(&config, &[]);
        let record = NewRecord {
            timestamp: 1,
            key: Some(key),
            value: Some(value),
        };
        disk.put(
            &segment(0),
            &encode_marked_batch(0, 0, 1, Compression::None, &[record]).unwrap(),
        );
        let error = open(&disk, &config).unwrap_err();
        let OpenError::Damaged(damages) = &error else {
            panic!("{error}")
        };
        assert!(
            matches!(
                damages[0].corrupt.kind,
                CorruptKind::Record { offset: 0, .. }
            ),
            "{error}"
        );
    }
}

/// The logs of two stores that were told the same differed in no byte.
#[test]
fn the_log_of_another_store_is_refused() {
    let made = |mark| {
        let disk = SimDisk::default();
        disk.number_marks_from(mark);
        let store = open(&disk, &GroupStoreConfig::default()).unwrap();
        for (now, command) in (0..).zip(&script()[..4]) {
            command.run(&store, now * TICK).unwrap();
        }
        let state = state(&store);
        // Before the store is dropped, which closes it.
        (disk.copy(), state)
    };
    let ((disk, here), (other, there)) = (made(0), made(100));
    assert_eq!(here, there);
    disk.put(&segment(0), &other.bytes(&segment(0)));
    let error = open(&disk, &GroupStoreConfig::default()).unwrap_err();
    let told = "at byte 0: the batch is of another store: mark 00000065, this one has 00000001";
    assert!(error.to_string().contains(told), "{error}");
}
