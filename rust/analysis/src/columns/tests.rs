//! Columns hold what rows tell, and every row tells a cell of the right kind for each of its columns.

use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::history::{At, Cause, Delivery, HistoryRow, Standing};
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::offset::OffsetRange;
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareValue};
use share_state_wire::state_record::{encode_key, encode_value};

use super::*;
use crate::anomaly::{Anomaly, AnomalyKind, Severity};
use crate::decoded::DecodedRow;
use crate::history::Told;
use crate::input::Input;
use crate::row_error::{Reason, RowError};
use crate::state::{StateRow, Writes};

/// The cells of one row, with the columns that they stand in.
struct Checked {
    columns: &'static [Column],
    at: usize,
}

impl Cells for Checked {
    fn put(&mut self, cell: Cell<'_>) {
        let column = self.columns[self.at];
        let fits = match cell {
            Cell::Null => column.nullable,
            Cell::Word(_) | Cell::TopicId(_) => column.kind == Kind::Text,
            _ => std::mem::discriminant(&cell) == std::mem::discriminant(&blank(column.kind)),
        };
        assert!(fits, "{} is {cell:?}", column.name);
        self.at += 1;
    }
}

fn check<R: Row>(row: &R) {
    let mut cells = Checked {
        columns: R::COLUMNS,
        at: 0,
    };
    row.cells(&mut cells);
    assert_eq!(cells.at, R::COLUMNS.len());
}

fn key() -> SharePartitionKey {
    SharePartitionKey::new("grüße", TopicId([9; 16]), 3)
}

const AT: At = At {
    offset: 7,
    timestamp: 1_000,
};

fn snapshot() -> ShareSnapshot {
    ShareSnapshot {
        snapshot_epoch: 1,
        state_epoch: 2,
        leader_epoch: 3,
        start_offset: 10,
        delivery_complete_count: -1,
        create_timestamp: 5,
        write_timestamp: 6,
        state_batches: vec![
            StateBatch {
                first_offset: 12,
                last_offset: 14,
                delivery_state: 2,
                delivery_count: 1,
            },
            StateBatch {
                first_offset: 20,
                last_offset: 20,
                delivery_state: 0,
                delivery_count: 4,
            },
        ],
        unknown_tagged_fields: Vec::new(),
    }
}

fn standing() -> Standing {
    Standing::of(&ShareGroupOffset::from_snapshot(&snapshot()), Some(7))
}

fn state_row() -> StateRow {
    let writes = Writes {
        oldest: 1,
        newest: 2,
    };
    StateRow::new(key(), 4, standing(), writes, snapshot().state_batches)
}

#[test]
fn every_row_tells_the_cells_of_its_columns() {
    let record = ShareRecord {
        key: key(),
        value: ShareValue::Snapshot(snapshot()),
    };
    let (bytes, value) = (
        encode_key(&record).unwrap(),
        encode_value(&record.value).unwrap().unwrap(),
    );
    check(&DecodedRow::read(1, AT, &bytes, Some(&value)).unwrap());
    check(&DecodedRow::read(1, AT, &bytes, None).unwrap());
    check(&DecodedRow::read(1, AT, &bytes, Some(&[0, 9])).unwrap());
    check(&DecodedRow::read(1, AT, &[0, 77, 1], Some(&value)).unwrap());
    check(&state_row());
    let mut row = HistoryRow {
        key: key(),
        at: AT,
        range: OffsetRange::new(1, 2),
        from: None,
        to: Some(Delivery { state: 0, count: 1 }),
        cause: Cause::Released,
        standing: standing(),
    };
    for range in [None, row.range] {
        row.range = range;
        let state_partition = 4;
        check(&Told {
            state_partition,
            row: &row,
        });
    }
    check(&Anomaly {
        kind: AnomalyKind::Gap,
        severity: Severity::Info,
        key: key(),
        range: None,
        state_partition: 1,
        since_offset: 2,
        since_timestamp: 3,
        until_timestamp: None,
        evidence: String::new(),
        advice: "",
    });
    let input = Input {
        key: Some(&[1]),
        partition: Some(1),
        offset: Some(1),
        timestamp: Some(1),
        ..Input::default()
    };
    check(&input);
    check(&RowError::new(0, &Input::default(), Reason::Repeated));
}

#[test]
fn cells_lie_where_arrow_looks_for_them() {
    let mut columns = Columns::new(StateRow::COLUMNS);
    columns.push(&state_row());
    let writes = Writes {
        oldest: 1,
        newest: 2,
    };
    columns.push(&StateRow::new(key(), 4, standing(), writes, Vec::new()));
    let batch = columns.take();
    assert_eq!((batch.rows, columns.rows(), columns.bytes()), (2, 0, 0));
    let column = |name: &str| {
        let at = StateRow::COLUMNS.iter().position(|c| c.name == name);
        batch.columns[at.unwrap()].clone()
    };
    let group = Values::Variable {
        offsets: vec![0, 7, 14],
        bytes: "grüßegrüße".into(),
    };
    assert_eq!(column("group").values, group);
    assert_eq!(
        column("newest_write").values,
        Values::Timestamp(vec![2000, 2000])
    );
    let end = column("end_offset");
    assert_eq!((end.nulls, end.values), (1, Values::Int64(vec![20, 0])));
    assert_eq!(end.validity.map(Bits::into_bytes), Some(vec![0b01]));
    assert_eq!(
        column("oldest_unsettled").values,
        Values::Int64(vec![10, 0])
    );
    let Values::List { offsets, elements } = column("batches").values else {
        panic!("batches are a list");
    };
    assert_eq!(offsets, [0, 2, 2]);
    assert_eq!(elements[2].values, Values::Int8(vec![2, 0]));
    let Values::List { elements, .. } = column("delivery_counts").values else {
        panic!("delivery counts are a list");
    };
    assert_eq!(elements[1].values, Values::Int64(vec![3, 1]));
}

#[test]
fn validity_begins_with_the_first_missing_cell() {
    let column = Column::nullable("n", Kind::Int32, "");
    let mut buffers = Buffers::new(&column);
    for n in 0..9 {
        buffers.put(Cell::Int32(n));
    }
    assert_eq!(buffers.validity, None);
    buffers.put(Cell::Null);
    buffers.put(Cell::Int32(1));
    let bits = buffers.validity.clone().map(Bits::into_bytes);
    assert_eq!((buffers.nulls, bits), (1, Some(vec![0xff, 0b101])));
    assert_eq!(
        buffers.values,
        Values::Int32(vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1])
    );
}

#[test]
fn the_first_bit_is_the_least_significant() {
    let pattern = [true, false, false, true, true, false, true, false, true];
    let mut bits = Bits::default();
    pattern.iter().for_each(|bit| bits.push(*bit));
    assert_eq!(bits.into_bytes(), [0b0101_1001, 0b1]);
    assert_eq!(Bits::ones(3).into_bytes(), [0b111]);
}
