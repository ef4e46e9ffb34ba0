//! Column, growing or taken out.

use super::{Bits, blank};
use crate::table::{Cell, Column, Kind};

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffers {
    kind: Kind,
    length: usize,
    /// Places that hold something; `None` if all do.
    pub validity: Option<Bits>,
    /// Number of places that do not.
    pub nulls: usize,
    /// Values of the places.
    pub values: Values,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// A bit each.
    Bool(Bits),
    /// 8-bit numbers.
    Int8(Vec<i8>),
    /// 16-bit numbers.
    Int16(Vec<i16>),
    /// 32-bit numbers.
    Int32(Vec<i32>),
    /// 64-bit numbers.
    Int64(Vec<i64>),
    /// Times, µs since the epoch: the one unit that all readers of Arrow have, Spark among them.
    Timestamp(Vec<i64>),
    /// Bytes or UTF-8, one after the other; value i ends where value i + 1 begins.
    Variable {
        /// Begin of each value, and the end of the last one.
        offsets: Vec<i32>,
        /// The values.
        bytes: Vec<u8>,
    },
    /// Lists of structs, one after the other, as columns of the struct.
    List {
        /// Begin of each list, and the end of the last one.
        offsets: Vec<i32>,
        /// The columns of the elements.
        elements: Vec<Buffers>,
    },
}

impl Buffers {
    /// A column without rows.
    pub(super) fn new(column: &Column) -> Self {
        let values = match column.kind {
            Kind::Bool => Values::Bool(Bits::default()),
            Kind::Int8 => Values::Int8(Vec::new()),
            Kind::Int16 => Values::Int16(Vec::new()),
            Kind::Int32 => Values::Int32(Vec::new()),
            Kind::Int64 => Values::Int64(Vec::new()),
            Kind::Timestamp => Values::Timestamp(Vec::new()),
            Kind::Text | Kind::Bytes => Values::Variable {
                offsets: vec![0],
                bytes: Vec::new(),
            },
            Kind::Batches | Kind::DeliveryCounts => Values::List {
                offsets: vec![0],
                elements: column.kind.elements().iter().map(Self::new).collect(),
            },
        };
        Self {
            kind: column.kind,
            length: 0,
            validity: None,
            nulls: 0,
            values,
        }
    }

    /// Appends a cell. One that is missing, or of another kind (which the tests of the tables rule out), is null.
    pub(super) fn put(&mut self, cell: Cell<'_>) {
        let there = self.values.put(cell);
        if !there {
            self.values.put(blank(self.kind));
            self.nulls += 1;
        }
        if self.nulls > 0 {
            let length = self.length;
            let validity = self.validity.get_or_insert_with(|| Bits::ones(length));
            validity.push(there);
        }
        self.length += 1;
    }
}

impl Values {
    /// Appends a cell of this kind; `false`, and nothing is done, when it is of another.
    fn put(&mut self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (Self::Bool(bits), Cell::Bool(value)) => bits.push(value),
            (Self::Int8(list), Cell::Int8(value)) => list.push(value),
            (Self::Int16(list), Cell::Int16(value)) => list.push(value),
            (Self::Int32(list), Cell::Int32(value)) => list.push(value),
            (Self::Int64(list), Cell::Int64(value)) => list.push(value),
            (Self::Timestamp(list), Cell::Timestamp(ms)) => list.push(ms.saturating_mul(1000)),
            (Self::Variable { offsets, bytes }, Cell::Text(text) | Cell::Word(text)) => {
                append(offsets, bytes, text.as_bytes());
            }
            (Self::Variable { offsets, bytes }, Cell::TopicId(id)) => {
                append(offsets, bytes, &id.hyphenated());
            }
            (Self::Variable { offsets, bytes }, Cell::Bytes(value)) => {
                append(offsets, bytes, value);
            }
            (Self::List { offsets, elements }, Cell::Batches(batches)) => {
                for batch in batches {
                    let cells = [
                        Cell::Int64(batch.first_offset),
                        Cell::Int64(batch.last_offset),
                        Cell::Int8(batch.delivery_state),
                        Cell::Int16(batch.delivery_count),
                    ];
                    put_element(elements, cells);
                }
                end(offsets, elements.first().map_or(0, |column| column.length));
            }
            (Self::List { offsets, elements }, Cell::DeliveryCounts(counts)) => {
                for (count, records) in counts {
                    put_element(elements, [Cell::Int16(*count), Cell::Int64(*records)]);
                }
                end(offsets, elements.first().map_or(0, |column| column.length));
            }
            _ => return false,
        }
        true
    }
}

fn put_element<const N: usize>(columns: &mut [Buffers], cells: [Cell<'_>; N]) {
    for (column, cell) in columns.iter_mut().zip(cells) {
        column.put(cell);
    }
}

fn append(offsets: &mut Vec<i32>, bytes: &mut Vec<u8>, value: &[u8]) {
    bytes.extend_from_slice(value);
    end(offsets, bytes.len());
}

/// Notes where a value ends. Rows are taken out long before 2 GiB; see [`super::super::pump`].
fn end(offsets: &mut Vec<i32>, length: usize) {
    offsets.push(i32::try_from(length).unwrap_or(i32::MAX));
}
