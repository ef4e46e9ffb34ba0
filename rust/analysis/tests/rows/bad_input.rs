//! Rows that cannot be used: each reason, with its place, and that nothing else is lost.

use crate::made_up::{Logged, key};
use share_state_analysis::input::Input;
use share_state_analysis::pump::{OnError, Options, Pump, Table};
use share_state_analysis::row_error::{Reason, RowError};
use share_state_core::history::At;
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareValue};
use share_state_wire::WireErrorKind;
use share_state_wire::state_record::{encode_key, encode_value};

fn logged(partition: u32, offset: i64) -> Logged {
    let record = ShareRecord {
        key: key(0),
        value: ShareValue::Snapshot(ShareSnapshot {
            snapshot_epoch: 0,
            state_epoch: 1,
            leader_epoch: 0,
            start_offset: 0,
            delivery_complete_count: 0,
            create_timestamp: 1,
            write_timestamp: 1,
            state_batches: Vec::new(),
            unknown_tagged_fields: Vec::new(),
        }),
    };
    Logged {
        partition,
        at: At {
            offset,
            timestamp: 5,
        },
        key: encode_key(&record).unwrap(),
        value: encode_value(&record.value).unwrap(),
        record,
    }
}

/// Error of a table for the last of `inputs`, after it took the others.
fn refused(table: Table, inputs: &[Input<'_>]) -> RowError {
    let mut pump = Pump::new(table, Options::default());
    let (last, before) = inputs.split_last().unwrap();
    for input in before {
        pump.push(input).unwrap();
    }
    *pump.push(last).unwrap_err()
}

#[test]
fn each_reason_is_told_with_the_place() {
    let good = logged(0, 5);
    let good = good.input();
    let other = logged(1, 0);
    let missing = |column| Reason::Missing { column };
    let bad = [
        (
            Input {
                topic: Some("orders"),
                ..good
            },
            Reason::OtherTopic {
                topic: "orders".to_owned(),
            },
        ),
        (Input { key: None, ..good }, missing("key")),
        (
            Input {
                partition: None,
                ..good
            },
            missing("partition"),
        ),
        (
            Input {
                offset: None,
                ..good
            },
            missing("offset"),
        ),
        (
            Input {
                timestamp: None,
                ..good
            },
            missing("timestamp"),
        ),
        (
            Input {
                partition: Some(-1),
                ..good
            },
            Reason::NegativePartition { partition: -1 },
        ),
        (
            Input {
                offset: Some(-7),
                ..good
            },
            Reason::NegativeOffset { offset: -7 },
        ),
        (
            Input {
                value: Some(&[0, 3, 1]),
                ..good
            },
            Reason::UnsupportedVersion { version: 3 },
        ),
    ];
    for (input, reason) in bad {
        let error = refused(Table::State, &[input]);
        assert_eq!(
            (error.row, error.partition, error.offset),
            (0, input.partition, input.offset)
        );
        assert_eq!(error.value.as_deref(), input.value);
        assert!(error.to_string().starts_with("row 0"), "{error}");
        assert_eq!(error.reason, reason);
    }
    let topic = Some("__share_group_state");
    let named = Input { topic, ..good };
    assert_eq!(
        refused(Table::State, &[named, good]).reason,
        Reason::Repeated
    );
    let earlier = Input {
        offset: Some(4),
        ..good
    };
    assert_eq!(
        refused(Table::State, &[good, earlier]).reason,
        Reason::Unordered { previous: 5 }
    );
    let later = Input {
        offset: Some(6),
        ..good
    };
    let error = refused(Table::State, &[good, other.input(), later]);
    assert_eq!((error.row, error.reason), (2, Reason::PartitionAgain));
    for (key, value) in [
        (&[0u8, 0, 9][..], good.value),
        (good.key.unwrap(), Some(&[0u8, 0, 1][..])),
    ] {
        let input = Input {
            key: Some(key),
            value,
            ..good
        };
        let Reason::Corrupt(error) = refused(Table::Decoded, &[input]).reason else {
            panic!("{input:?} was read");
        };
        assert!(
            matches!(error.kind, WireErrorKind::Truncated { .. }),
            "{error:?}"
        );
    }
}

#[test]
fn what_is_put_aside_is_kept_whole_and_the_rest_is_read() {
    let rows: Vec<_> = (0..6).map(|offset| logged(0, offset)).collect();
    for table in [
        Table::Decoded,
        Table::State,
        Table::History,
        Table::Anomalies,
    ] {
        let options = || Options {
            on_error: OnError::Quarantine,
            ..Options::default()
        };
        let (mut with_bad, mut without) =
            (Pump::new(table, options()), Pump::new(table, options()));
        for row in &rows {
            // At the place of the good one, which comes after it.
            with_bad
                .push(&Input {
                    value: Some(&[0, 0, 1]),
                    ..row.input()
                })
                .unwrap();
            without.push(&row.input()).unwrap();
            with_bad.push(&row.input()).unwrap();
            with_bad
                .push(&Input {
                    offset: None,
                    ..row.input()
                })
                .unwrap();
            with_bad.push(&row.input()).unwrap();
        }
        without.finish();
        with_bad.finish();
        assert_eq!(with_bad.batches(), without.batches());
        assert_eq!(without.quarantined(), []);
        let aside = with_bad.quarantined();
        assert_eq!(aside.iter().map(|batch| batch.rows).sum::<usize>(), 18);
        assert_eq!(with_bad.quarantined(), []);
    }
}

#[test]
fn an_unknown_type_is_a_row_of_its_own_and_is_passed_over_by_the_fold() {
    let good = logged(0, 0);
    let unknown = Input {
        key: Some(&[0, 9, 1, 2]),
        offset: Some(1),
        ..good.input()
    };
    for (table, rows) in [(Table::Decoded, 2), (Table::State, 1)] {
        let mut pump = Pump::new(table, Options::default());
        pump.push(&good.input()).unwrap();
        pump.push(&unknown).unwrap();
        pump.finish();
        assert_eq!(
            pump.batches().iter().map(|batch| batch.rows).sum::<usize>(),
            rows
        );
    }
    let mut pump = Pump::new(Table::Decoded, Options::default());
    pump.push(&Input {
        value: Some(&[0, 7, 1]),
        ..good.input()
    })
    .unwrap();
    assert_eq!(pump.batches(), []);
    pump.finish();
    assert_eq!(pump.batches().len(), 1);
}
