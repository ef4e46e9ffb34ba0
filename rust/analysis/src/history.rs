//! The row of a history, with its state partition; the machine that makes it is [`share_state_core::history::History`].

use share_state_core::history::HistoryRow;

use crate::common_columns;
use crate::table::{Cell, Cells, Column, Kind, Row};

/// A row of a history, and the state partition that holds its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told<'a> {
    /// State partition.
    pub state_partition: u32,
    /// The row.
    pub row: &'a HistoryRow,
}

impl Row for Told<'_> {
    const COLUMNS: &'static [Column] = &[
        common_columns::GROUP,
        common_columns::TOPIC_ID,
        common_columns::PARTITION,
        Column::nullable(
            "first_offset",
            Kind::Int64,
            "First offset of the interval; null for the share partition as a whole.",
        ),
        Column::nullable(
            "last_offset",
            Kind::Int64,
            "Last offset of the interval, inclusive; null as the first is.",
        ),
        Column::nullable(
            "from_state",
            Kind::Int8,
            "Delivery state of each offset before; null when nothing was known.",
        ),
        Column::nullable(
            "from_count",
            Kind::Int16,
            "Delivery count of each offset before; null as the state is.",
        ),
        Column::nullable(
            "to_state",
            Kind::Int8,
            "Delivery state of each offset now: 0 available, 2 acknowledged, 3 archiving, 4 archived; null when nothing is known.",
        ),
        Column::nullable(
            "to_count",
            Kind::Int16,
            "Delivery count of each offset now; null as the state is.",
        ),
        Column::new("cause", Kind::Text, "Why, as far as the log tells."),
        Column::new(
            "at_offset",
            Kind::Int64,
            "Offset of the record of the state topic that made the change.",
        ),
        Column::new("at_timestamp", Kind::Timestamp, "Time of that record."),
        common_columns::RECORD_PARTITION,
        Column::new(
            "start_offset",
            Kind::Int64,
            "Start offset after that record; -1 while not yet resolved.",
        ),
        common_columns::DELIVERY_COMPLETE_COUNT,
        common_columns::SNAPSHOT_EPOCH,
        common_columns::STATE_EPOCH,
        common_columns::LEADER_EPOCH,
        common_columns::SNAPSHOT_OFFSET,
    ];

    fn cells(&self, to: &mut impl Cells) {
        let HistoryRow {
            key,
            at,
            range,
            from,
            to: now,
            cause,
            standing,
        } = self.row;
        to.put(Cell::Text(&key.group));
        to.put(Cell::TopicId(key.topic_id));
        to.put(Cell::Int32(key.partition));
        to.put(Cell::int64(range.map(|range| range.first)));
        to.put(Cell::int64(range.map(|range| range.last)));
        to.put(Cell::int8(from.map(|from| from.state)));
        to.put(Cell::int16(from.map(|from| from.count)));
        to.put(Cell::int8(now.map(|now| now.state)));
        to.put(Cell::int16(now.map(|now| now.count)));
        to.put(Cell::Word(cause.name()));
        to.put(Cell::Int64(at.offset));
        to.put(Cell::Timestamp(at.timestamp));
        to.put(Cell::Int32(self.state_partition.cast_signed()));
        to.put(Cell::Int64(standing.start_offset));
        to.put(Cell::Int32(standing.delivery_complete_count));
        to.put(Cell::Int32(standing.snapshot_epoch));
        to.put(Cell::Int32(standing.state_epoch));
        to.put(Cell::Int32(standing.leader_epoch));
        to.put(Cell::int64(standing.snapshot_offset));
    }
}
