//! The law of a history: its rows, applied in order, give what the fold gives, after every record and whatever was written.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: what they take apart is there"
)]

use std::collections::HashMap;

use proptest::prelude::*;
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::history::{At, Cause, Delivery, History, HistoryRow, Standing};
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::interval_tree::{IntervalTree, RunValue};
use share_state_core::offset::{OffsetRange, after, before};
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareUpdate, ShareValue};
use share_state_core::state_batch::StateBatch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known(Delivery);

impl RunValue for Known {}

/// State of a share partition as a reader of the rows knows it.
#[derive(Clone, Debug)]
struct Replayed {
    standing: Standing,
    known: IntervalTree<Known>,
}

/// Applies a row, and checks that it tells truly what was before.
fn replay(state: &mut Option<Replayed>, row: &HistoryRow) {
    let begins = row.cause == Cause::Initialised || row.cause == Cause::Found && state.is_none();
    match (row.range, row.cause) {
        (None, Cause::Deleted) => *state = None,
        (None, _) if begins => {
            *state = Some(Replayed {
                standing: row.standing,
                known: IntervalTree::new(),
            });
        }
        (None, _) => state.as_mut().unwrap().standing = row.standing,
        (Some(range), _) => {
            let state = state.as_mut().unwrap();
            state.standing = row.standing;
            assert_eq!(uniform(&state.known, range), Some(row.from), "{row:?}");
            match row.to {
                Some(to) => state.known.set(range, Known(to)),
                None => state.known.remove(range),
            }
        }
    }
}

/// State of every offset of `range`, if it is the same of all.
fn uniform(known: &IntervalTree<Known>, range: OffsetRange) -> Option<Option<Delivery>> {
    match known.at_or_after(range.first) {
        Some(run) if run.range.covers(range) => Some(Some(run.value.0)),
        Some(run) if run.range.first <= range.last => None,
        _ => Some(None),
    }
}

/// Compares what a reader knows with what the fold says.
fn agree(replayed: Option<&Replayed>, folded: Option<&ShareGroupOffset>, record: usize) {
    let (Some(replayed), Some(folded)) = (replayed, folded) else {
        assert_eq!(replayed.is_none(), folded.is_none(), "record {record}");
        return;
    };
    let Standing {
        start_offset,
        delivery_complete_count,
        snapshot_epoch,
        state_epoch,
        leader_epoch,
        snapshot_offset,
    } = replayed.standing;
    assert_eq!(
        (
            start_offset,
            delivery_complete_count,
            snapshot_epoch,
            state_epoch,
            leader_epoch
        ),
        (
            folded.start_offset,
            folded.delivery_complete_count,
            folded.snapshot_epoch,
            folded.state_epoch,
            folded.leader_epoch
        ),
        "record {record}"
    );
    assert_eq!(snapshot_offset.is_none(), folded.incomplete);
    let known: Vec<_> = replayed
        .known
        .iter()
        .map(|run| StateBatch {
            first_offset: run.range.first,
            last_offset: run.range.last,
            delivery_state: run.value.0.state,
            delivery_count: run.value.0.count,
        })
        .collect();
    assert_eq!(known, folded.state_batches.to_vec(), "record {record}");
}

/// Checks what one record's rows promise among themselves.
fn check_rows(rows: &[HistoryRow], at: At) {
    let mut end = None;
    for (i, row) in rows.iter().enumerate() {
        assert_eq!((row.at, row.standing), (at, rows[0].standing));
        let Some(range) = row.range else {
            assert!(end.is_none(), "rows of the whole come first: {rows:?}");
            assert_eq!((row.from, row.to), (None, None));
            continue;
        };
        assert!(end.is_none_or(|end| end < range.first), "{rows:?}");
        end = Some(range.last);
        let moved = matches!(row.cause, Cause::Passed | Cause::StartOffsetWentBack);
        assert!(row.from != row.to || moved, "{row:?} changes nothing");
        if let Some(next) = rows.get(i + 1).filter(|next| next.cause == row.cause) {
            let touches = after(range.last) == next.range.map(|next| next.first);
            assert!(
                !touches || (next.from, next.to) != (row.from, row.to),
                "{rows:?}"
            );
        }
    }
}

/// Returns `true` if the rows tell of every offset that the start offset moved over, in either direction, whatever is
/// known of it.
fn tells_of_the_move(rows: &[HistoryRow], from: i64, to: i64) -> bool {
    let mut next = from.min(to);
    for range in rows.iter().filter_map(|row| row.range) {
        if range.first <= next && range.last >= next {
            next = after(range.last).unwrap_or(i64::MAX);
        }
    }
    next >= from.max(to)
}

fn key(n: i32) -> SharePartitionKey {
    SharePartitionKey::new("g", TopicId([7; 16]), n)
}

fn offset() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 0..40i64, 1 => i64::MAX - 20..=i64::MAX, 1 => -3..0i64]
}

fn batch() -> impl Strategy<Value = StateBatch> {
    (offset(), -2..12i64, -1..6i8, -1..5i16).prop_map(|(first, length, state, count)| StateBatch {
        first_offset: first,
        last_offset: first.saturating_add(length),
        delivery_state: state,
        delivery_count: count,
    })
}

fn start_offset() -> impl Strategy<Value = i64> {
    prop_oneof![3 => Just(-1), 6 => 0..50i64, 1 => i64::MAX - 20..=i64::MAX, 1 => Just(i64::MIN)]
}

/// Records as brokers write them and as they should not: all fields go where they want.
fn value() -> impl Strategy<Value = ShareValue> {
    let batches = || prop::collection::vec(batch(), 0..5);
    let snapshot = (
        0..3i32,
        0..2i32,
        -1..3i32,
        start_offset(),
        -1..9i32,
        batches(),
    )
        .prop_map(
            |(snapshot_epoch, state_epoch, leader_epoch, start_offset, count, state_batches)| {
                ShareValue::Snapshot(ShareSnapshot {
                    snapshot_epoch,
                    state_epoch,
                    leader_epoch,
                    start_offset,
                    delivery_complete_count: count,
                    create_timestamp: 1,
                    write_timestamp: 1,
                    state_batches,
                    unknown_tagged_fields: Vec::new(),
                })
            },
        );
    let update = (0..3i32, -1..3i32, start_offset(), -1..9i32, batches()).prop_map(
        |(snapshot_epoch, leader_epoch, start_offset, count, state_batches)| {
            ShareValue::Update(ShareUpdate {
                snapshot_epoch,
                leader_epoch,
                start_offset,
                delivery_complete_count: count,
                state_batches,
                unknown_tagged_fields: Vec::new(),
            })
        },
    );
    prop_oneof![3 => snapshot, 12 => update, 1 => Just(ShareValue::Tombstone)]
}

proptest! {
    #[test]
    fn rows_applied_in_order_give_what_the_fold_gives(
        records in prop::collection::vec((0..2i32, value()), 1..40),
    ) {
        let mut history = History::new();
        let mut replayed: HashMap<i32, Option<Replayed>> = HashMap::new();
        let mut folded: HashMap<i32, Option<ShareGroupOffset>> = HashMap::new();
        let mut rows = Vec::new();
        for (i, (n, value)) in records.into_iter().enumerate() {
            let at = At { offset: i64::try_from(i).unwrap(), timestamp: 7 };
            ShareGroupOffset::fold(folded.entry(n).or_default(), &value);
            rows.clear();
            history.apply(at, &ShareRecord { key: key(n), value }, &mut rows);
            check_rows(&rows, at);
            let state = replayed.entry(n).or_default();
            if let (Some(before), Some(row)) = (state.as_ref(), rows.first()) {
                let (from, to) = (before.standing.start_offset, row.standing.start_offset);
                let goes_on = row.cause != Cause::Initialised && row.cause != Cause::Deleted;
                if goes_on && from != -1 && to != -1 {
                    prop_assert!(tells_of_the_move(&rows, from, to), "{:?}", rows);
                }
            }
            for row in &rows {
                prop_assert_eq!(&row.key, &key(n));
                replay(state, row);
            }
            agree(state.as_ref(), folded[&n].as_ref(), i);
            prop_assert_eq!(history.state(&key(n)), folded[&n].as_ref());
        }
    }
}

#[test]
fn an_update_costs_what_it_touches_and_not_the_window() {
    // A hundred thousand torn runs, then single records: were the window walked for each, this would take hours.
    let torn: Vec<_> = (0..100_000)
        .map(|i| StateBatch {
            first_offset: i * 2,
            last_offset: i * 2,
            delivery_state: 0,
            delivery_count: 1,
        })
        .collect();
    let update = |start_offset, state_batches| ShareRecord {
        key: key(0),
        value: ShareValue::Update(ShareUpdate {
            snapshot_epoch: 0,
            leader_epoch: -1,
            start_offset,
            delivery_complete_count: 0,
            state_batches,
            unknown_tagged_fields: Vec::new(),
        }),
    };
    let mut history = History::new();
    let mut rows = Vec::new();
    let mut at = At {
        offset: 0,
        timestamp: 0,
    };
    history.apply(at, &update(0, torn), &mut rows);
    assert_eq!(rows.len(), 1 + 100_000);
    for offset in 0..100_000 {
        rows.clear();
        at.offset += 1;
        let accepted = StateBatch {
            first_offset: offset * 2,
            last_offset: offset * 2,
            delivery_state: 2,
            delivery_count: 1,
        };
        history.apply(
            at,
            &update(before(offset).unwrap().max(0), vec![accepted]),
            &mut rows,
        );
        assert!(rows.len() <= 3 && rows.iter().any(|row| row.cause == Cause::Accepted));
    }
}
