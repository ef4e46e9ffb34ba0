//! The row of an anomaly.

use share_state_core::ids::SharePartitionKey;
use share_state_core::offset::OffsetRange;

use super::{AnomalyKind, Mark, Severity};
use crate::common_columns;
use crate::table::{Cell, Cells, Column, Kind, Row};

/// Anomaly of a share partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anomaly {
    /// Kind of the anomaly.
    pub kind: AnomalyKind,
    /// Haste with which somebody should look.
    pub severity: Severity,
    /// The share partition.
    pub key: SharePartitionKey,
    /// The offsets it is about; `None` for the share partition as a whole.
    pub range: Option<OffsetRange>,
    /// State partition.
    pub state_partition: u32,
    /// Offset of the record of the state topic with which it began.
    pub since_offset: i64,
    /// Its time, ms since the epoch.
    pub since_timestamp: i64,
    /// Time at which it was over; `None` if it lasts at the end of the log.
    pub until_timestamp: Option<i64>,
    /// Evidence in the log, in figures.
    pub evidence: String,
    /// Advice: what to look at, or to do.
    pub advice: &'static str,
}

/// Anomaly before it has its share partition.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub kind: AnomalyKind,
    pub severity: Severity,
    pub range: Option<OffsetRange>,
    pub since: Mark,
    pub until: Option<i64>,
    pub evidence: String,
    pub advice: &'static str,
}

impl Anomaly {
    /// Returns `true` if it lasts, or was not over before.
    #[must_use]
    pub fn lasts_until(&self, since_ms: i64) -> bool {
        self.until_timestamp.is_none_or(|until| until >= since_ms)
    }
}

impl Found {
    pub fn of(self, key: &SharePartitionKey, state_partition: u32) -> Anomaly {
        Anomaly {
            kind: self.kind,
            severity: self.severity,
            key: key.clone(),
            range: self.range,
            state_partition,
            since_offset: self.since.offset,
            since_timestamp: self.since.ms,
            until_timestamp: self.until,
            evidence: self.evidence,
            advice: self.advice,
        }
    }
}

impl Row for Anomaly {
    const COLUMNS: &'static [Column] = &[
        Column::new("kind", Kind::Text, "What is wrong."),
        Column::new("severity", Kind::Text, "info, warning or critical."),
        common_columns::GROUP,
        common_columns::TOPIC_ID,
        common_columns::PARTITION,
        Column::nullable(
            "first_offset",
            Kind::Int64,
            "First of the offsets it is about; null for the share partition as a whole.",
        ),
        Column::nullable(
            "last_offset",
            Kind::Int64,
            "Last of them, inclusive; null as the first is.",
        ),
        Column::new(
            "state_partition",
            Kind::Int32,
            "Partition of __share_group_state that tells of it.",
        ),
        Column::new(
            "since_offset",
            Kind::Int64,
            "Offset there of the record with which it began.",
        ),
        Column::new(
            "since_timestamp",
            Kind::Timestamp,
            "When it began: the time of that record; of a growing lag, of the first measurement.",
        ),
        Column::nullable(
            "until_timestamp",
            Kind::Timestamp,
            "When it was over; null when it lasts at the end of the log.",
        ),
        Column::new("evidence", Kind::Text, "What the log shows, in figures."),
        Column::new("advice", Kind::Text, "What to look at, or to do."),
    ];

    fn cells(&self, to: &mut impl Cells) {
        to.put(Cell::Word(self.kind.name()));
        to.put(Cell::Word(self.severity.name()));
        to.put(Cell::Text(&self.key.group));
        to.put(Cell::TopicId(self.key.topic_id));
        to.put(Cell::Int32(self.key.partition));
        to.put(Cell::int64(self.range.map(|range| range.first)));
        to.put(Cell::int64(self.range.map(|range| range.last)));
        to.put(Cell::Int32(self.state_partition.cast_signed()));
        to.put(Cell::Int64(self.since_offset));
        to.put(Cell::Timestamp(self.since_timestamp));
        to.put(Cell::timestamp(self.until_timestamp));
        to.put(Cell::Text(&self.evidence));
        to.put(Cell::Word(self.advice));
    }
}
