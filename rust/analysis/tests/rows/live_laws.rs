//! The laws of what is followed: it is the state, its counts are the sums of the history, and how records come does not matter.

use std::collections::BTreeMap;

use crate::made_up::{Logged, log};
use proptest::prelude::*;
use share_state_analysis::live::{Change, Follower, LiveRow, Outcomes};
use share_state_analysis::state::StateFold;
use share_state_analysis::table::{Cell, Cells, Row};
use share_state_core::history::{Cause, History};
use share_state_core::ids::SharePartitionKey;
use share_state_wire::record_batch::{Compression, NewRecord, encode_batch};

type Told = BTreeMap<SharePartitionKey, LiveRow>;

fn merge(told: &mut Told, follower: &mut Follower) {
    for change in follower.changes() {
        match change {
            Change::Now(row) => drop(told.insert(row.key.clone(), *row)),
            Change::Gone(key) => drop(told.remove(&key)),
        }
    }
}

/// Cells as text, by the names of their columns.
struct Named(Vec<String>);

impl Cells for Named {
    fn put(&mut self, cell: Cell<'_>) {
        self.0.push(format!("{cell:?}"));
    }
}

fn named<R: Row>(row: &R) -> BTreeMap<&'static str, String> {
    let mut cells = Named(Vec::new());
    row.cells(&mut cells);
    assert_eq!(cells.0.len(), R::COLUMNS.len());
    R::COLUMNS
        .iter()
        .map(|column| column.name)
        .zip(cells.0)
        .collect()
}

/// The records of one state partition, whose offsets are below `i64::MAX`.
fn of_one(log: Vec<Logged>) -> Vec<Logged> {
    log.into_iter().filter(|l| l.partition == 0).collect()
}

fn batches(log: &[Logged]) -> Vec<Vec<u8>> {
    let encode = |logged: &Logged| {
        let record = NewRecord {
            timestamp: logged.at.timestamp.max(0),
            key: Some(&logged.key),
            value: logged.value.as_deref(),
        };
        encode_batch(logged.at.offset, 0, Compression::None, &[record]).unwrap()
    };
    log.iter().map(encode).collect()
}

proptest! {
    #[test]
    fn what_is_told_in_pieces_is_the_state(log in log(), every in 1..5usize) {
        let log = of_one(log);
        let (mut follower, mut fold, mut told) = (Follower::new(0, 0), StateFold::new(), Told::new());
        for (n, logged) in log.iter().enumerate() {
            follower.read(logged.at, &logged.key, logged.value.as_deref()).unwrap();
            fold.read(logged.at, &logged.key, logged.value.as_deref()).unwrap();
            if n % every == 0 {
                merge(&mut told, &mut follower);
            }
        }
        merge(&mut told, &mut follower);
        let states: Vec<_> = fold.rows(0).collect();
        prop_assert_eq!(states.len(), told.len());
        prop_assert_eq!(follower.len(), told.len());
        for (state, row) in states.iter().zip(told.values()) {
            let (of_state, of_row) = (named(state), named(row));
            for (name, value) in &of_row {
                if let Some(same) = of_state.get(name) {
                    prop_assert_eq!(value, same, "{}", name);
                }
            }
            prop_assert_eq!(&of_row["held_offset"], &of_state["oldest_unsettled"]);
        }
        let snapshots: Vec<_> = states.iter().map(|state| state.standing.snapshot_offset).collect();
        prop_assert_eq!(follower.needed_from(), snapshots.into_iter().min().flatten());
    }

    #[test]
    fn its_counts_are_the_sums_of_the_history(log in log()) {
        let log = of_one(log);
        let (mut follower, mut history) = (Follower::new(0, 0), History::new());
        let mut sums = BTreeMap::<SharePartitionKey, Outcomes>::new();
        for logged in &log {
            follower.read(logged.at, &logged.key, logged.value.as_deref()).unwrap();
            let mut rows = Vec::new();
            history.apply(logged.at, &logged.record, &mut rows);
            for row in rows {
                if matches!(row.cause, Cause::Deleted | Cause::Initialised) {
                    sums.remove(&row.key);
                }
                let sum = sums.entry(row.key.clone()).or_default();
                let records = row.range.map_or(0, |range| range.len());
                match (row.cause, row.from) {
                    (Cause::Accepted, _) => sum.accepted += records,
                    (Cause::Released, _) => sum.released += records,
                    (Cause::Archiving, _) => sum.archiving += records,
                    (Cause::Archived, _) => *sum.archived.entry(row.to.unwrap().count).or_default() += records,
                    (Cause::Passed, None) => sum.passed_unknown = sum.passed_unknown.saturating_add(records),
                    (Cause::Passed, Some(from)) if ![2, 4].contains(&from.state) => sum.passed_available += records,
                    _ => {}
                }
            }
        }
        let mut told = Told::new();
        merge(&mut told, &mut follower);
        for (key, row) in &told {
            prop_assert_eq!(&row.outcomes, &sums[key]);
        }
    }

    #[test]
    fn batches_may_overlap_and_be_cut_off(log in log(), at in 0..40usize, back in 0..3usize, cut in 0..60usize) {
        let log = of_one(log);
        let log: Vec<_> = log.into_iter().map(|mut logged| {
            logged.at.timestamp = logged.at.timestamp.max(0);
            logged
        }).collect();
        let mut one_by_one = Follower::new(0, 0);
        for logged in &log {
            one_by_one.read(logged.at, &logged.key, logged.value.as_deref()).unwrap();
        }
        let batches = batches(&log);
        let at = at.min(batches.len());
        let mut refused = Vec::new();
        let mut follower = Follower::new(0, 0);
        let first = batches[..at].concat();
        // The last of the first answer may be cut off; the second begins so many batches before it.
        let kept = first.len() - cut.min(batches[..at].last().map_or(0, Vec::len));
        let new = follower.take(&first, 0, kept, &mut refused);
        prop_assert!(new.start == 0 && new.end <= kept);
        let second = batches[at.saturating_sub(1 + back)..].concat();
        let more = follower.take(&second, 0, second.len(), &mut refused);
        // What was new lies side by side: it is the log.
        let log_bytes = batches.concat();
        prop_assert_eq!([&first[new], &second[more]].concat(), log_bytes);
        prop_assert_eq!(&refused, &[]);
        prop_assert_eq!(follower.records(), one_by_one.records());
        prop_assert_eq!(follower.next_offset(), one_by_one.next_offset());
        let (mut told, mut expected) = (Told::new(), Told::new());
        merge(&mut told, &mut follower);
        merge(&mut expected, &mut one_by_one);
        prop_assert_eq!(told, expected);
    }

    #[test]
    fn what_cannot_be_read_is_passed_over_and_told(log in log(), which in 0..40usize) {
        let log = of_one(log);
        let mut batches = batches(&log);
        let which = which % log.len().max(1);
        if let Some(last) = batches.get_mut(which).and_then(|batch| batch.last_mut()) {
            *last ^= 1;
            let bytes = batches.concat();
            let (mut follower, mut refused) = (Follower::new(0, 0), Vec::new());
            follower.take(&bytes, 0, bytes.len(), &mut refused);
            let offsets: Vec<_> = refused.iter().map(|refused| refused.offset).collect();
            prop_assert_eq!(offsets.len(), 1);
            prop_assert!(offsets[0] <= log[which].at.offset);
            prop_assert!(which == 0 || offsets[0] > log[which - 1].at.offset);
            prop_assert_eq!(follower.next_offset(), log[log.len() - 1].at.offset + 1);
            prop_assert_eq!(follower.records(), log.len() as u64 - 1);
        }
    }
}
