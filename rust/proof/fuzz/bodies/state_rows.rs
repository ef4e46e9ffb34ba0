//! Any bytes as rows of the state topic, as Python gives them with a place each: a row that cannot be used is put aside with its
//! number and changes nothing, and all that fold the others agree.

use std::collections::BTreeSet;

use share_state_analysis::columns::Batch;
use share_state_analysis::input::Input;
use share_state_analysis::pump::{OnError, Options, Pump, Table};
use share_state_analysis::state::{StateFold, StateReplay, StateRow};
use share_state_core::coordinator::{CoordinatorConfig, ShareCoordinator};
use share_state_core::history::{At, History};
use share_state_wire::state_record::{Decoded, decode};

const TABLES: [Table; 4] = [
    Table::Decoded,
    Table::State,
    Table::History,
    Table::Anomalies,
];

/// Runs one input; tells whether at least one row could be used.
pub fn run(data: &[u8]) -> bool {
    let rows = rows(data);
    let mut used = false;
    for table in TABLES {
        let (good, all) = pumped(table, &rows);
        used |= !good.is_empty();
        let (again, of_good) = pumped(table, &good);
        assert_eq!(again.len(), good.len(), "what was used can be used");
        assert_eq!(of_good, all, "what was put aside has changed nothing");
    }
    folds_agree(&rows);
    used
}

/// Rows: what is null or another in each, its place, the lengths of key and value, key, value.
fn rows(mut rest: &[u8]) -> Vec<Input<'_>> {
    let mut rows = Vec::new();
    let mut offset = 0i64;
    while let [what, place, passed, key, high, low, after @ ..] = rest {
        let is = |bit: u8| what >> bit & 1 == 1;
        offset = match *place >> 2 {
            63 => i64::MAX,
            62 => -1,
            skipped => offset.saturating_add(i64::from(skipped) - 3),
        };
        let (key, after) = after.split_at(after.len().min(usize::from(*key)));
        let size = usize::from(u16::from_be_bytes([*high, *low]));
        let (value, after) = after.split_at(after.len().min(size));
        let partition = i32::from(*place & 3);
        rows.push(Input {
            topic: is(0).then_some("orders"),
            partition: (!is(1)).then_some(if is(2) { -partition } else { partition }),
            offset: (!is(3)).then_some(offset),
            timestamp: (!is(4)).then_some(match *passed {
                255 => i64::MAX,
                254 => i64::MIN,
                passed => offset.saturating_add(i64::from(passed)),
            }),
            key: (!is(5)).then_some(key),
            value: (!is(6)).then_some(value),
        });
        rest = after;
    }
    rows
}

/// The rows that could be used, and what was made of them.
fn pumped<'a>(table: Table, rows: &[Input<'a>]) -> (Vec<Input<'a>>, Vec<Batch>) {
    let failing = Options::default();
    let mut strict = Pump::new(table, failing.clone());
    let mut lenient = Pump::new(
        table,
        Options {
            on_error: OnError::Quarantine,
            ..failing
        },
    );
    let mut good = Vec::new();
    for (number, row) in (0..).zip(rows) {
        assert_eq!(lenient.push(row), Ok(()));
        match strict.push(row) {
            Ok(()) => good.push(*row),
            Err(error) => assert_eq!((error.row, error.offset), (number, row.offset)),
        }
    }
    strict.finish();
    lenient.finish();
    let aside: usize = lenient.quarantined().iter().map(|batch| batch.rows).sum();
    assert_eq!(aside, rows.len() - good.len());
    let batches = lenient.batches();
    assert_eq!(strict.batches(), batches);
    (good, batches)
}

/// The fold of the loader, the replay of the history and the coordinator, record by record.
fn folds_agree(rows: &[Input<'_>]) {
    let Ok(mut coordinator) = ShareCoordinator::new(CoordinatorConfig::default()) else {
        unreachable!("the defaults are valid")
    };
    let (mut fold, mut history, mut replay) =
        (StateFold::new(), History::new(), StateReplay::new());
    let mut told = Vec::new();
    for (offset, row) in (0..).zip(rows) {
        let at = At {
            offset,
            timestamp: row.timestamp.unwrap_or(0),
        };
        let key = row.key.unwrap_or_default();
        let (read, decoded) = (fold.read(at, key, row.value), decode(key, row.value));
        assert_eq!(read.err(), decoded.as_ref().err().cloned());
        if let Ok(Decoded::Record(record)) = decoded {
            history.apply(at, &record, &mut told);
            told.drain(..).for_each(|row| replay.apply(&row));
            coordinator.replay(offset, &record);
        }
    }
    let of_records: Vec<StateRow> = fold.rows(0).collect();
    let of_history: Vec<StateRow> = replay.rows(0).collect();
    assert_eq!(of_records, of_history);
    let keys: BTreeSet<_> = of_records.iter().map(|row| &row.key).collect();
    assert_eq!(keys, coordinator.states().map(|(key, _)| key).collect());
    for row in &of_records {
        let state = coordinator.state(&row.key);
        assert_eq!(
            Some(&row.batches),
            state.map(|s| s.state_batches.to_vec()).as_ref()
        );
        assert_eq!(
            Some(row.standing.start_offset),
            state.map(|state| state.start_offset)
        );
    }
}
