//! Columns of a row, and the cells that a row gives.

use share_state_core::ids::TopicId;
use share_state_core::state_batch::StateBatch;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Bool,
    /// 8 bits, signed.
    Int8,
    /// 16 bits, signed.
    Int16,
    /// 32 bits, signed.
    Int32,
    /// 64 bits, signed.
    Int64,
    /// A time, ms since the epoch in UTC.
    Timestamp,
    /// UTF-8; a topic id is written as a hyphenated UUID.
    Text,
    /// Bytes as they are.
    Bytes,
    /// State batches: a list of [`BATCH`].
    Batches,
    /// Records by delivery count: a list of [`DELIVERY_COUNT`].
    DeliveryCounts,
}

impl Kind {
    /// The name that Python is told.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Timestamp => "timestamp",
            Self::Text => "text",
            Self::Bytes => "bytes",
            Self::Batches => "batches",
            Self::DeliveryCounts => "delivery_counts",
        }
    }

    /// The columns of the elements of a list; none for what is no list.
    #[must_use]
    pub const fn elements(self) -> &'static [Column] {
        match self {
            Self::Batches => BATCH,
            Self::DeliveryCounts => DELIVERY_COUNT,
            _ => &[],
        }
    }
}

/// Column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, the same everywhere.
    pub name: &'static str,
    /// Type of the column.
    pub kind: Kind,
    /// Set if a cell may be missing.
    pub nullable: bool,
    /// Meaning, with its unit.
    pub doc: &'static str,
}

impl Column {
    /// A column whose cells are all there.
    #[must_use]
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self {
            name,
            kind,
            nullable: false,
            doc,
        }
    }

    /// A column whose cells may be missing.
    #[must_use]
    pub const fn nullable(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self {
            name,
            kind,
            nullable: true,
            doc,
        }
    }
}

/// The columns of an element of [`Kind::Batches`].
pub const BATCH: &[Column] = &[
    Column::new("first_offset", Kind::Int64, "First offset."),
    Column::new("last_offset", Kind::Int64, "Last offset, inclusive."),
    Column::new(
        "delivery_state",
        Kind::Int8,
        "0 available, 2 acknowledged, 3 archiving, 4 archived.",
    ),
    Column::new(
        "delivery_count",
        Kind::Int16,
        "How often the records were delivered.",
    ),
];

/// The columns of an element of [`Kind::DeliveryCounts`].
pub const DELIVERY_COUNT: &[Column] = &[
    Column::new("delivery_count", Kind::Int16, "A delivery count."),
    Column::new("records", Kind::Int64, "How many records have it."),
];

/// Value of a row in one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// Nothing, in a nullable column.
    Null,
    /// For [`Kind::Bool`].
    Bool(bool),
    /// For [`Kind::Int8`].
    Int8(i8),
    /// For [`Kind::Int16`].
    Int16(i16),
    /// For [`Kind::Int32`].
    Int32(i32),
    /// For [`Kind::Int64`].
    Int64(i64),
    /// For [`Kind::Timestamp`].
    Timestamp(i64),
    /// For [`Kind::Text`].
    Text(&'a str),
    /// For [`Kind::Text`]; one of a few words.
    Word(&'static str),
    /// For [`Kind::Text`], as a hyphenated UUID.
    TopicId(TopicId),
    /// For [`Kind::Bytes`].
    Bytes(&'a [u8]),
    /// For [`Kind::Batches`].
    Batches(&'a [StateBatch]),
    /// For [`Kind::DeliveryCounts`].
    DeliveryCounts(&'a [(i16, i64)]),
}

impl<'a> Cell<'a> {
    /// A 64-bit number, or nothing.
    #[must_use]
    pub fn int64(value: Option<i64>) -> Self {
        value.map_or(Self::Null, Self::Int64)
    }

    /// A 32-bit number, or nothing.
    #[must_use]
    pub fn int32(value: Option<i32>) -> Self {
        value.map_or(Self::Null, Self::Int32)
    }

    /// A 16-bit number, or nothing.
    #[must_use]
    pub fn int16(value: Option<i16>) -> Self {
        value.map_or(Self::Null, Self::Int16)
    }

    /// An 8-bit number, or nothing.
    #[must_use]
    pub fn int8(value: Option<i8>) -> Self {
        value.map_or(Self::Null, Self::Int8)
    }

    /// A time, or nothing.
    #[must_use]
    pub fn timestamp(value: Option<i64>) -> Self {
        value.map_or(Self::Null, Self::Timestamp)
    }

    /// Bytes, or nothing.
    #[must_use]
    pub fn bytes(value: Option<&'a [u8]>) -> Self {
        value.map_or(Self::Null, Self::Bytes)
    }
}

/// Place for the cells of rows, one after the other: columns that grow, or the fields of a tuple.
pub trait Cells {
    /// Takes the next cell of the row.
    fn put(&mut self, cell: Cell<'_>);
}

/// A row, and the table that it stands in.
pub trait Row {
    /// The columns, in order.
    const COLUMNS: &'static [Column];

    /// Tells the cells in the order of the columns, one for each.
    fn cells(&self, to: &mut impl Cells);
}
