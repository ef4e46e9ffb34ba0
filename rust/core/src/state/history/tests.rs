//! Each cause, from the records that show it.

use super::*;
use crate::ids::TopicId;
use crate::records::{ShareSnapshot, ShareUpdate};
use crate::state::state_batch::StateBatch;

fn key() -> SharePartitionKey {
    SharePartitionKey::new("g", TopicId([7; 16]), 0)
}

fn batches(list: &[(i64, i64, i8, i16)]) -> Vec<StateBatch> {
    list.iter()
        .map(
            |&(first_offset, last_offset, delivery_state, delivery_count)| StateBatch {
                first_offset,
                last_offset,
                delivery_state,
                delivery_count,
            },
        )
        .collect()
}

fn snapshot(epochs: (i32, i32, i32), start: i64, list: &[(i64, i64, i8, i16)]) -> ShareValue {
    ShareValue::Snapshot(ShareSnapshot {
        snapshot_epoch: epochs.0,
        state_epoch: epochs.1,
        leader_epoch: epochs.2,
        start_offset: start,
        delivery_complete_count: 0,
        create_timestamp: 1,
        write_timestamp: 1,
        state_batches: batches(list),
        unknown_tagged_fields: Vec::new(),
    })
}

fn update(start: i64, list: &[(i64, i64, i8, i16)]) -> ShareValue {
    ShareValue::Update(ShareUpdate {
        snapshot_epoch: 0,
        leader_epoch: 0,
        start_offset: start,
        delivery_complete_count: 0,
        state_batches: batches(list),
        unknown_tagged_fields: Vec::new(),
    })
}

/// The rows of the last of `values`, as text: `first-last from>to cause`.
fn last_rows(values: &[ShareValue]) -> Vec<String> {
    let mut history = History::new();
    let mut rows = Vec::new();
    for (offset, value) in (0..).zip(values) {
        rows.clear();
        let at = At {
            offset,
            timestamp: 1000 + offset,
        };
        let record = ShareRecord {
            key: key(),
            value: value.clone(),
        };
        history.apply(at, &record, &mut rows);
        assert!(rows.iter().all(|row| row.at == at));
    }
    rows.iter().map(text).collect()
}

fn text(row: &HistoryRow) -> String {
    let told = |known: Option<Delivery>| {
        known.map_or("-".to_owned(), |known| {
            format!("{}x{}", known.state, known.count)
        })
    };
    match row.range {
        None => row.cause.to_string(),
        Some(range) => format!("{range} {}>{} {}", told(row.from), told(row.to), row.cause),
    }
}

#[test]
fn what_became_of_records_is_told_by_the_state_they_came_into() {
    let first = snapshot((0, 1, 0), 0, &[]);
    assert_eq!(
        last_rows(&[
            first.clone(),
            update(
                0,
                &[
                    (0, 4, 2, 1),
                    (5, 5, 0, 1),
                    (6, 6, 4, 1),
                    (7, 7, 3, 5),
                    (8, 8, 6, 1)
                ]
            ),
        ]),
        [
            "0-4 ->2x1 accepted",
            "5-5 ->0x1 released",
            "6-6 ->4x1 archived",
            "7-7 ->3x5 archiving",
            "8-8 ->6x1 other_state"
        ]
    );
    // What the fold keeps, because the greater count stands, is no change.
    assert_eq!(
        last_rows(&[
            first.clone(),
            update(0, &[(0, 9, 2, 2)]),
            update(0, &[(3, 12, 0, 1)])
        ]),
        ["10-12 ->0x1 released"]
    );
    // Pieces of one change are one row, over whatever batches they were written in.
    assert_eq!(
        last_rows(&[
            first,
            update(0, &[(0, 4, 0, 1)]),
            update(0, &[(0, 1, 2, 1), (2, 3, 2, 1)])
        ]),
        ["0-3 0x1>2x1 accepted"]
    );
}

#[test]
fn a_start_offset_that_moves_passes_known_and_unknown_records() {
    let first = snapshot((0, 1, 0), 3, &[]);
    let known = update(3, &[(3, 4, 2, 1), (8, 8, 0, 1)]);
    assert_eq!(
        last_rows(&[first.clone(), known.clone(), update(7, &[(6, 9, 4, 1)])]),
        [
            "3-4 2x1>- passed",
            "5-6 ->- passed",
            "7-7 ->4x1 archived",
            "8-8 0x1>4x1 archived",
            "9-9 ->4x1 archived"
        ]
    );
    assert_eq!(
        last_rows(&[first.clone(), known, update(1, &[])]),
        ["1-2 ->- start_offset_went_back"]
    );
    assert_eq!(
        last_rows(&[snapshot((0, 1, 0), -1, &[]), update(5, &[])]),
        ["start_offset_resolved"]
    );
    assert_eq!(
        last_rows(&[first, update(i64::MAX, &[])]),
        [format!("3-{} ->- passed", i64::MAX - 1)]
    );
}

#[test]
fn the_share_partition_as_a_whole_begins_goes_on_and_ends() {
    let first = snapshot((0, 1, 0), 0, &[]);
    let busy = update(0, &[(0, 4, 0, 1)]);
    assert_eq!(last_rows(std::slice::from_ref(&first)), ["initialised"]);
    assert_eq!(
        last_rows(&[
            first.clone(),
            busy.clone(),
            snapshot((1, 1, 3), 0, &[(0, 4, 0, 1)])
        ]),
        ["led"]
    );
    assert_eq!(
        last_rows(&[
            first.clone(),
            busy.clone(),
            snapshot((1, 1, 0), 0, &[(0, 4, 0, 1)])
        ]),
        ["snapshot"]
    );
    assert_eq!(
        last_rows(&[first.clone(), busy.clone(), snapshot((1, 2, 0), 9, &[])]),
        ["initialised"]
    );
    assert_eq!(
        last_rows(&[first.clone(), busy.clone(), busy.clone()]),
        [""; 0]
    );
    assert_eq!(
        last_rows(&[first.clone(), busy, ShareValue::Tombstone]),
        ["deleted"]
    );
    assert_eq!(last_rows(&[ShareValue::Tombstone]), [""; 0]);
    let mut counted = update(0, &[]);
    if let ShareValue::Update(update) = &mut counted {
        update.delivery_complete_count = 4;
    }
    assert_eq!(last_rows(&[first, counted]), ["counted"]);
}

#[test]
fn a_log_whose_prefix_is_gone_says_so() {
    let busy = update(2, &[(2, 4, 0, 1)]);
    assert_eq!(
        last_rows(std::slice::from_ref(&busy)),
        ["found", "2-4 ->0x1 released"]
    );
    let told = snapshot((4, 3, 0), 2, &[(2, 4, 0, 1), (6, 6, 2, 1)]);
    assert_eq!(
        last_rows(std::slice::from_ref(&told)),
        ["found", "2-4 ->0x1 found", "6-6 ->2x1 found"]
    );
    assert_eq!(last_rows(&[busy, told]), ["found", "6-6 ->2x1 found"]);
}

#[test]
fn what_no_coordinator_should_write_is_told_as_such() {
    let first = snapshot((1, 1, 0), 0, &[(0, 9, 0, 3)]);
    assert_eq!(
        last_rows(&[first.clone(), snapshot((1, 1, 0), 0, &[(0, 4, 0, 2)])]),
        [
            "snapshot_epoch_not_rising",
            "0-4 0x3>0x2 went_back",
            "5-9 0x3>- forgotten"
        ]
    );
    assert_eq!(
        last_rows(&[first, update(0, &[])]),
        ["update_of_other_snapshot"]
    );
}

#[test]
fn every_cause_has_a_name_of_its_own() {
    let mut names: Vec<_> = Cause::ALL.iter().map(|cause| cause.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Cause::ALL.len());
}
