//! Rows as columns, in the memory layout of Apache Arrow's columnar format (1.0: validity bitmaps, 32-bit offsets), so that
//! they are handed on as they are.

use share_state_core::state_batch::StateBatch;

use crate::table::{Cell, Cells, Column, Kind, Row};

mod bits;
mod buffers;
#[cfg(test)]
mod tests;

pub use bits::Bits;
pub use buffers::{Buffers, Values};

/// Rows of one table, until they are taken out.
#[derive(Clone, Debug)]
pub struct Columns {
    columns: &'static [Column],
    buffers: Vec<Buffers>,
    rows: usize,
    /// Bytes of cells whose size varies.
    bytes: usize,
}

/// Rows that were taken out: a column each.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Number of rows.
    pub rows: usize,
    /// The columns, in order.
    pub columns: Vec<Buffers>,
}

impl Columns {
    /// No row.
    #[must_use]
    pub fn new(columns: &'static [Column]) -> Self {
        Self {
            columns,
            buffers: columns.iter().map(Buffers::new).collect(),
            rows: 0,
            bytes: 0,
        }
    }

    /// Appends a row of this table.
    pub fn push(&mut self, row: &impl Row) {
        let mut cursor = Cursor {
            buffers: self.buffers.iter_mut(),
            bytes: 0,
        };
        row.cells(&mut cursor);
        self.bytes += cursor.bytes;
        self.rows += 1;
    }

    /// Number of rows that wait.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes of their cells whose size varies.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes the rows out.
    #[must_use]
    pub fn take(&mut self) -> Batch {
        let empty = Self::new(self.columns);
        let taken = std::mem::replace(self, empty);
        Batch {
            rows: taken.rows,
            columns: taken.buffers,
        }
    }
}

/// The next columns of the row that is being appended.
struct Cursor<'a> {
    buffers: std::slice::IterMut<'a, Buffers>,
    bytes: usize,
}

impl Cells for Cursor<'_> {
    fn put(&mut self, cell: Cell<'_>) {
        if let Some(column) = self.buffers.next() {
            self.bytes += size(cell);
            column.put(cell);
        }
    }
}

fn size(cell: Cell<'_>) -> usize {
    match cell {
        Cell::Text(text) | Cell::Word(text) => text.len(),
        Cell::Bytes(bytes) => bytes.len(),
        Cell::TopicId(_) => 36,
        Cell::Batches(batches) => size_of_val::<[StateBatch]>(batches),
        Cell::DeliveryCounts(counts) => size_of_val(counts),
        _ => 0,
    }
}

/// The empty value of a kind, for a place that holds nothing.
fn blank(kind: Kind) -> Cell<'static> {
    match kind {
        Kind::Bool => Cell::Bool(false),
        Kind::Int8 => Cell::Int8(0),
        Kind::Int16 => Cell::Int16(0),
        Kind::Int32 => Cell::Int32(0),
        Kind::Int64 => Cell::Int64(0),
        Kind::Timestamp => Cell::Timestamp(0),
        Kind::Text => Cell::Text(""),
        Kind::Bytes => Cell::Bytes(&[]),
        Kind::Batches => Cell::Batches(&[]),
        Kind::DeliveryCounts => Cell::DeliveryCounts(&[]),
    }
}
