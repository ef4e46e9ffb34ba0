//! Input of the machines: records of the state topic with their places, by the names of Spark's Kafka source.

use crate::table::{Cell, Cells, Column, Kind, Row};

/// The topic that share coordinators write to.
pub const STATE_TOPIC: &str = "__share_group_state";

/// Record as it was handed in; nothing of it has been looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Input<'a> {
    /// Its topic, where the caller has that column.
    pub topic: Option<&'a str>,
    /// Partition of the state topic.
    pub partition: Option<i32>,
    /// Offset in that partition.
    pub offset: Option<i64>,
    /// Ms since the epoch.
    pub timestamp: Option<i64>,
    /// Key.
    pub key: Option<&'a [u8]>,
    /// Value; `None` is a tombstone.
    pub value: Option<&'a [u8]>,
}

impl Row for Input<'_> {
    const COLUMNS: &'static [Column] = &[
        Column::nullable(
            "key",
            Kind::Bytes,
            "Key of the record; a null one is told as a row error.",
        ),
        Column::nullable(
            "value",
            Kind::Bytes,
            "Value of the record; null in a tombstone.",
        ),
        Column::new(
            "partition",
            Kind::Int32,
            "Partition of __share_group_state that holds it.",
        ),
        Column::new("offset", Kind::Int64, "Its offset there."),
        Column::new("timestamp", Kind::Timestamp, "Its time."),
    ];

    fn cells(&self, to: &mut impl Cells) {
        to.put(Cell::bytes(self.key));
        to.put(Cell::bytes(self.value));
        to.put(Cell::int32(self.partition));
        to.put(Cell::int64(self.offset));
        to.put(Cell::timestamp(self.timestamp));
    }
}
