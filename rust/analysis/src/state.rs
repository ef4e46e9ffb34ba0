//! Row of the state of a share partition.

use std::collections::BTreeMap;

use share_state_core::history::Standing;
use share_state_core::ids::SharePartitionKey;
use share_state_core::offset::{OffsetRange, after};
use share_state_core::record_state::RecordState;
use share_state_core::state_batch::StateBatch;

use crate::common_columns;
use crate::table::{Cell, Cells, Column, Kind, Row};

mod compacted;
mod fold;
mod replay;

pub use compacted::compacted;
pub use fold::StateFold;
pub use replay::StateReplay;

/// The state of one share partition, as its records tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRow {
    /// The share partition.
    pub key: SharePartitionKey,
    /// State partition that holds its state.
    pub state_partition: u32,
    /// The state as a whole.
    pub standing: Standing,
    /// Time at which it was initialised, or was seen first in the log, ms since the epoch.
    pub oldest_write: i64,
    /// Time at which it last changed, ms since the epoch.
    pub newest_write: i64,
    /// State batches of the records: sorted, disjoint, coalesced.
    pub batches: Vec<StateBatch>,
    figures: Figures,
}

/// Numbers of records in the batches, by state and by delivery count, and the offsets at their ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    pub available: i64,
    pub acknowledged: i64,
    pub archiving: i64,
    pub archived: i64,
    pub delivery_counts: Vec<(i16, i64)>,
    pub end_offset: Option<i64>,
    pub oldest_unsettled: Option<i64>,
}

impl Figures {
    pub fn of(batches: &[StateBatch], start_offset: i64) -> Self {
        let mut figures = Self {
            available: 0,
            acknowledged: 0,
            archiving: 0,
            archived: 0,
            delivery_counts: Vec::new(),
            end_offset: batches.last().map(|batch| batch.last_offset),
            oldest_unsettled: None,
        };
        let mut counts = BTreeMap::<i16, i64>::new();
        for batch in batches {
            let first = batch.first_offset.max(start_offset);
            let Some(range) = OffsetRange::new(first, batch.last_offset) else {
                continue;
            };
            let records = i64::try_from(range.len()).unwrap_or(i64::MAX);
            let all = counts.entry(batch.delivery_count).or_default();
            *all = all.saturating_add(records);
            let of_state = match RecordState::from_id(batch.delivery_state) {
                Some(RecordState::Available) => &mut figures.available,
                Some(RecordState::Acknowledged) => &mut figures.acknowledged,
                Some(RecordState::Archiving) => &mut figures.archiving,
                Some(RecordState::Archived) => &mut figures.archived,
                Some(RecordState::Acquired) | None => continue,
            };
            *of_state = of_state.saturating_add(records);
        }
        figures.delivery_counts = counts.into_iter().collect();
        figures.oldest_unsettled = oldest_unsettled(batches, start_offset);
        figures
    }

    /// The cells of `end_offset` and all after it, up to the oldest record that is not settled.
    pub fn put(&self, to: &mut impl Cells) {
        to.put(Cell::int64(self.end_offset));
        to.put(Cell::Int64(self.available));
        to.put(Cell::Int64(self.acknowledged));
        to.put(Cell::Int64(self.archiving));
        to.put(Cell::Int64(self.archived));
        to.put(Cell::DeliveryCounts(&self.delivery_counts));
        to.put(Cell::int64(self.oldest_unsettled));
    }
}

/// The first offset from the start offset to the end that is not settled.
fn oldest_unsettled(batches: &[StateBatch], start_offset: i64) -> Option<i64> {
    if start_offset < 0 {
        return None;
    }
    let mut position = start_offset;
    for batch in batches {
        if batch.last_offset < position {
            continue;
        }
        let terminal = is_terminal(batch.delivery_state);
        if batch.first_offset > position || !terminal {
            return Some(position);
        }
        position = after(batch.last_offset)?;
    }
    None
}

/// Returns `true` if no record of a delivery state comes back.
pub(crate) fn is_terminal(delivery_state: i8) -> bool {
    RecordState::from_id(delivery_state).is_some_and(RecordState::is_terminal)
}

impl StateRow {
    /// The row of a state.
    #[must_use]
    pub fn new(
        key: SharePartitionKey,
        state_partition: u32,
        standing: Standing,
        writes: Writes,
        batches: Vec<StateBatch>,
    ) -> Self {
        Self {
            figures: Figures::of(&batches, standing.start_offset),
            key,
            state_partition,
            standing,
            oldest_write: writes.oldest,
            newest_write: writes.newest,
            batches,
        }
    }
}

/// Times at which a share partition was written to, ms since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Time at which it was initialised, or was seen first in the log.
    pub oldest: i64,
    /// Time at which it last changed.
    pub newest: i64,
}

impl Row for StateRow {
    const COLUMNS: &'static [Column] = &[
        common_columns::GROUP,
        common_columns::TOPIC_ID,
        common_columns::PARTITION,
        common_columns::STATE_PARTITION,
        common_columns::SNAPSHOT_EPOCH,
        Column::new(
            "state_epoch",
            Kind::Int32,
            "Epoch of the state, set when it was initialised.",
        ),
        common_columns::LEADER_EPOCH,
        common_columns::START_OFFSET,
        common_columns::DELIVERY_COMPLETE_COUNT,
        common_columns::END_OFFSET,
        common_columns::AVAILABLE,
        common_columns::ACKNOWLEDGED,
        common_columns::ARCHIVING,
        common_columns::ARCHIVED,
        common_columns::DELIVERY_COUNTS,
        Column::nullable(
            "oldest_unsettled",
            Kind::Int64,
            "The first offset from the start offset to the end that is not settled; null when there is none.",
        ),
        common_columns::OLDEST_WRITE,
        common_columns::NEWEST_WRITE,
        Column::new(
            "incomplete",
            Kind::Bool,
            "Whether the log holds updates but not the snapshot below them.",
        ),
        Column::new(
            "batches",
            Kind::Batches,
            "What is known of the records: sorted, disjoint and coalesced.",
        ),
    ];

    fn cells(&self, to: &mut impl Cells) {
        let Self {
            standing, figures, ..
        } = self;
        to.put(Cell::Text(&self.key.group));
        to.put(Cell::TopicId(self.key.topic_id));
        to.put(Cell::Int32(self.key.partition));
        to.put(Cell::Int32(self.state_partition.cast_signed()));
        to.put(Cell::Int32(standing.snapshot_epoch));
        to.put(Cell::Int32(standing.state_epoch));
        to.put(Cell::Int32(standing.leader_epoch));
        to.put(Cell::Int64(standing.start_offset));
        to.put(Cell::Int32(standing.delivery_complete_count));
        figures.put(to);
        to.put(Cell::Timestamp(self.oldest_write));
        to.put(Cell::Timestamp(self.newest_write));
        to.put(Cell::Bool(standing.snapshot_offset.is_none()));
        to.put(Cell::Batches(&self.batches));
    }
}
