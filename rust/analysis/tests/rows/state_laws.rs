//! The laws of states: they are the coordinator's fold, the replay of their history, and the fold of a prefix.

use std::collections::HashMap;

use crate::made_up::{Logged, log};
use proptest::prelude::*;
use share_state_analysis::columns::Columns;
use share_state_analysis::pump::{OnError, Options, Pump, Table};
use share_state_analysis::state::{StateFold, StateReplay, StateRow};
use share_state_analysis::table::Row;
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::history::{AsOf, History};

/// The states of both state partitions, each record folded by the coordinator's own fold.
fn folded(log: &[Logged]) -> Vec<(u32, i32, ShareGroupOffset)> {
    let mut states: HashMap<(u32, i32), Option<ShareGroupOffset>> = HashMap::new();
    for logged in log {
        let state = states
            .entry((logged.partition, logged.record.key.partition))
            .or_default();
        ShareGroupOffset::fold(state, &logged.record.value);
    }
    let mut live: Vec<_> = states
        .into_iter()
        .filter_map(|((partition, n), state)| Some((partition, n, state?)))
        .collect();
    live.sort_by_key(|(partition, n, _)| (*partition, *n));
    live
}

fn rows_of(log: &[Logged]) -> Vec<StateRow> {
    let mut folds: HashMap<u32, StateFold> = HashMap::new();
    for logged in log {
        let fold = folds.entry(logged.partition).or_default();
        fold.read(logged.at, &logged.key, logged.value.as_deref())
            .unwrap();
    }
    (0..2)
        .filter_map(|partition| Some((partition, folds.get(&partition)?)))
        .flat_map(|(partition, fold)| fold.rows(partition).collect::<Vec<_>>())
        .collect()
}

fn is_row_of(row: &StateRow, state: &ShareGroupOffset) -> bool {
    let standing = row.standing;
    row.batches == state.state_batches.to_vec()
        && standing.snapshot_offset.is_none() == state.incomplete
        && (
            standing.snapshot_epoch,
            standing.state_epoch,
            standing.leader_epoch,
            standing.start_offset,
            standing.delivery_complete_count,
        ) == (
            state.snapshot_epoch,
            state.state_epoch,
            state.leader_epoch,
            state.start_offset,
            state.delivery_complete_count,
        )
}

/// Rows that a pump makes of `log`, as one batch.
fn pumped<'a>(
    log: impl Iterator<Item = &'a Logged>,
    options: Options,
) -> Vec<share_state_analysis::columns::Batch> {
    let mut pump = Pump::new(Table::State, options);
    for logged in log {
        pump.push(&logged.input()).unwrap();
    }
    pump.finish();
    pump.batches()
}

fn columns(rows: &[StateRow]) -> Vec<share_state_analysis::columns::Batch> {
    let mut columns = Columns::new(StateRow::COLUMNS);
    for row in rows {
        columns.push(row);
    }
    (columns.rows() > 0)
        .then(|| columns.take())
        .into_iter()
        .collect()
}

proptest! {
    #[test]
    fn states_are_the_fold_of_the_coordinator(log in log()) {
        let rows = rows_of(&log);
        let states = folded(&log);
        prop_assert_eq!(rows.len(), states.len());
        for (row, (partition, n, state)) in rows.iter().zip(&states) {
            prop_assert_eq!((row.state_partition, row.key.partition), (*partition, *n));
            prop_assert!(is_row_of(row, state), "{row:?} {state:?}");
        }
    }

    #[test]
    fn a_history_replayed_gives_the_states_after_every_record(log in log()) {
        let mut machines: HashMap<u32, (StateFold, History, StateReplay)> = HashMap::new();
        for logged in &log {
            let (fold, history, replay) = machines.entry(logged.partition).or_default();
            fold.read(logged.at, &logged.key, logged.value.as_deref())
                .unwrap();
            let mut told = Vec::new();
            history.apply(logged.at, &logged.record, &mut told);
            told.iter().for_each(|row| replay.apply(row));
            let from_records: Vec<_> = fold.rows(logged.partition).collect();
            let from_rows: Vec<_> = replay.rows(logged.partition).collect();
            prop_assert_eq!(from_records, from_rows);
        }
    }

    #[test]
    fn as_of_an_offset_or_a_time_is_the_fold_of_the_prefix(
        log in log(),
        offsets in prop::collection::hash_map(0..2u32, -1..60i64, 0..3),
        timestamp in prop::option::of(90..400i64),
    ) {
        let mut over: HashMap<u32, bool> = HashMap::new();
        let prefix: Vec<_> = log
            .iter()
            .filter(|logged| {
                let over = over.entry(logged.partition).or_default();
                let last = offsets.get(&logged.partition).copied().unwrap_or(i64::MAX);
                *over |= logged.at.offset > last || timestamp.is_some_and(|t| logged.at.timestamp > t);
                !*over
            })
            .cloned()
            .collect();
        let as_of = AsOf { offset: None, offsets, timestamp };
        let options = Options { as_of, ..Options::default() };
        prop_assert_eq!(pumped(log.iter(), options), columns(&rows_of(&prefix)));
    }

    #[test]
    fn repeated_rows_are_put_aside_and_change_nothing(
        log in log(),
        again in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut pump = Pump::new(
            Table::State,
            Options { on_error: OnError::Quarantine, ..Options::default() },
        );
        let repeated: Vec<_> = again.iter().map(|index| index.index(log.len())).collect();
        let mut refused = 0;
        for (i, logged) in log.iter().enumerate() {
            pump.push(&logged.input()).unwrap();
            // Rows that were read before come again at any later place: never as the first of their state partition.
            for earlier in repeated.iter().filter(|earlier| **earlier <= i) {
                let again = &log[*earlier];
                if again.partition == logged.partition {
                    pump.push(&again.input()).unwrap();
                    refused += 1;
                }
            }
        }
        pump.finish();
        prop_assert_eq!(pump.batches(), columns(&rows_of(&log)));
        let aside: usize = pump.quarantined().iter().map(|batch| batch.rows).sum();
        prop_assert_eq!(aside, refused);
    }
}
