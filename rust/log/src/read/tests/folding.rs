//! Fold of records to states.

use super::*;
use crate::read::fold::fold_scan;

pub(super) fn snapshot(n: i32, snapshot_epoch: i32) -> ShareRecord {
    let value = ShareValue::Snapshot(ShareSnapshot {
        snapshot_epoch,
        state_epoch: 1,
        leader_epoch: 0,
        start_offset: 0,
        delivery_complete_count: 0,
        create_timestamp: 1,
        write_timestamp: 1,
        state_batches: Vec::new(),
        unknown_tagged_fields: Vec::new(),
    });
    ShareRecord { key: key(n), value }
}

pub(super) fn update(n: i32, snapshot_epoch: i32) -> ShareRecord {
    let value = ShareValue::Update(ShareUpdate {
        snapshot_epoch,
        leader_epoch: 0,
        start_offset: -1,
        delivery_complete_count: 1,
        state_batches: Vec::new(),
        unknown_tagged_fields: Vec::new(),
    });
    ShareRecord { key: key(n), value }
}

pub(super) fn tombstone(n: i32) -> ShareRecord {
    ShareRecord {
        key: key(n),
        value: ShareValue::Tombstone,
    }
}

/// A log of these records, one batch.
pub(super) fn log_of(records: &[ShareRecord]) -> Vec<u8> {
    let bytes: Vec<_> = records
        .iter()
        .map(|record| {
            (
                encode_key(record).unwrap(),
                encode_value(&record.value).unwrap(),
            )
        })
        .collect();
    let new: Vec<_> = bytes
        .iter()
        .map(|(key, value)| NewRecord {
            timestamp: 1,
            key: Some(key),
            value: value.as_deref(),
        })
        .collect();
    encode_batch(0, 0, Compression::Zstd, &new).unwrap()
}

#[test]
fn odd_records_are_folded_as_kafka_does_and_noted() {
    let records = [
        snapshot(0, 4),
        update(0, 4),
        update(0, 3),
        snapshot(0, 4),
        snapshot(0, 2),
        tombstone(0),
        tombstone(0),
        snapshot(0, 0),
        update(1, 9),
        snapshot(1, 0),
        update(2, 5),
    ];
    let folded = fold_on(&broker(&[(0, log_of(&records))]), Path::new("/broker"));
    assert_eq!(folded.findings, []);
    assert_eq!(folded.records, records.len() as u64);
    let notes: Vec<_> = folded
        .notes
        .iter()
        .map(|note| (note.offset, note.kind))
        .collect();
    assert_eq!(
        notes,
        [
            (
                2,
                NoteKind::UpdateOfOtherSnapshot {
                    found: 3,
                    current: 4
                }
            ),
            (
                3,
                NoteKind::SnapshotEpochNotRising {
                    found: 4,
                    current: 4
                }
            ),
            (
                4,
                NoteKind::SnapshotEpochNotRising {
                    found: 2,
                    current: 4
                }
            ),
            (6, NoteKind::TombstoneOfUnknownKey),
        ]
    );
    assert_eq!(folded.notes_total, 4);
    let states: Vec<_> = folded
        .states
        .iter()
        .map(|f| {
            (
                f.partition,
                f.key.partition,
                f.state.snapshot_epoch,
                f.state.incomplete,
            )
        })
        .collect();
    assert_eq!(
        states,
        [(7, 0, 0, false), (7, 1, 0, false), (7, 2, 5, true)]
    );
}

#[test]
fn notes_do_not_grow_with_the_log() {
    let records = vec![tombstone(0); Folded::MAX_NOTES + 5];
    let folded = fold_on(&broker(&[(0, log_of(&records))]), Path::new("/broker"));
    assert_eq!(folded.notes.len(), Folded::MAX_NOTES);
    assert_eq!(folded.notes_total, records.len() as u64);
}

#[test]
fn records_that_cannot_be_read_are_findings_of_a_fold() {
    fn frame(key: Option<&'static [u8]>) -> NewRecord<'static> {
        NewRecord {
            timestamp: 1,
            key,
            value: Some(b"v"),
        }
    }
    let bytes = encode_batch(
        0,
        0,
        Compression::None,
        &[frame(Some(&[0, 255])), frame(None), frame(Some(&[0, 0, 1]))],
    )
    .unwrap();
    let bytes = [bytes, batch(3, 1)].concat();
    let folded = fold_on(&broker(&[(0, bytes)]), Path::new("/broker"));
    assert_eq!(folded.unknown_types, 2);
    assert_eq!(folded.records, 0);
    let found = kinds(&folded.findings);
    assert!(
        matches!(
            found[..],
            [
                CorruptKind::NullKey { offset: 1 },
                CorruptKind::Record { offset: 2, .. }
            ]
        ),
        "{found:?}"
    );
    for finding in &folded.findings {
        let Finding::Damage {
            partition: 7,
            corrupt,
        } = finding
        else {
            panic!("{finding}")
        };
        assert_eq!(corrupt.segment, segment(0));
    }
}

#[test]
fn a_fold_can_be_ended() {
    let disk = broker(&[(0, three_batches())]);
    let scan = || Scan::on(Arc::new(disk.clone()), Path::new("/broker")).unwrap();
    let mut calls = 0;
    let stopped = fold_scan(scan(), &mut |_| {
        calls += 1;
        ControlFlow::Break(())
    });
    assert!(matches!(stopped, Err(ScanError::Interrupted(_))));
    assert_eq!(calls, 1);
}
