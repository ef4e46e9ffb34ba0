//! The row of a share partition that is followed.

use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::history::{Delivery, Standing};
use share_state_core::ids::SharePartitionKey;

use super::pulse::{Outcomes, Pulse};
use crate::common_columns;
use crate::state::{Figures, Writes};
use crate::table::{Cell, Cells, Column, Kind, Row};

/// State of a share partition, and what happened to it since it is followed.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveRow {
    /// The share partition.
    pub key: SharePartitionKey,
    /// State partition that holds its state.
    pub state_partition: u32,
    /// The state as a whole.
    pub standing: Standing,
    /// Ends of deliveries since it is followed.
    pub outcomes: Outcomes,
    figures: Figures,
    writes: Writes,
    start_since: i64,
    held_since: Option<i64>,
    newest_delivery: Option<i64>,
    newest_acceptance: Option<i64>,
    /// Delivery of the first record that is not settled.
    held: Option<Delivery>,
}

impl LiveRow {
    pub(super) fn new(
        key: SharePartitionKey,
        state_partition: u32,
        pulse: &Pulse,
        state: &ShareGroupOffset,
    ) -> Self {
        let batches = state.state_batches.to_vec();
        let figures = Figures::of(&batches, state.start_offset);
        let held = figures.oldest_unsettled.and_then(|offset| {
            let after = batches.partition_point(|batch| batch.last_offset < offset);
            let batch = batches.get(after)?;
            (batch.first_offset <= offset).then_some(Delivery {
                state: batch.delivery_state,
                count: batch.delivery_count,
            })
        });
        Self {
            key,
            state_partition,
            standing: pulse.standing,
            outcomes: pulse.outcomes.clone(),
            writes: pulse.writes,
            start_since: pulse.start_since,
            held_since: pulse
                .held_since
                .filter(|_| figures.oldest_unsettled.is_some()),
            newest_delivery: pulse.newest_delivery,
            newest_acceptance: pulse.newest_acceptance,
            held,
            figures,
        }
    }
}

/// Records, as the tables count them.
fn count(records: u64) -> Cell<'static> {
    Cell::Int64(i64::try_from(records).unwrap_or(i64::MAX))
}

impl Row for LiveRow {
    const COLUMNS: &'static [Column] = &[
        common_columns::GROUP,
        common_columns::TOPIC_ID,
        common_columns::PARTITION,
        common_columns::STATE_PARTITION,
        common_columns::STATE_EPOCH,
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
            "held_offset",
            Kind::Int64,
            "The first offset from the start offset to the end that is not settled; null when there is none.",
        ),
        Column::nullable(
            "held_state",
            Kind::Int8,
            "Its delivery state; null when nothing was written about it: it was never delivered, or is in a member's hands since.",
        ),
        Column::nullable(
            "held_count",
            Kind::Int16,
            "Its delivery count; null as the state is.",
        ),
        Column::nullable(
            "held_since",
            Kind::Timestamp,
            "When a delivery first ended since the start offset stands where it is; null when nothing holds it.",
        ),
        Column::new(
            "start_since",
            Kind::Timestamp,
            "When the start offset came to stand where it is, or was seen there first.",
        ),
        common_columns::OLDEST_WRITE,
        common_columns::NEWEST_WRITE,
        common_columns::SNAPSHOT_OFFSET,
        Column::new(
            "accepted_total",
            Kind::Int64,
            "Records that members accepted, since the share partition is followed.",
        ),
        Column::new(
            "released_total",
            Kind::Int64,
            "... that members released, or whose locks ran out.",
        ),
        Column::new(
            "archiving_total",
            Kind::Int64,
            "... that were sent to the dead-letter queue.",
        ),
        Column::new(
            "archived_totals",
            Kind::DeliveryCounts,
            "... that were archived, by the delivery count with which they were.",
        ),
        Column::new(
            "passed_available_total",
            Kind::Int64,
            "... that the start offset passed while they were available.",
        ),
        Column::new(
            "passed_unknown_total",
            Kind::Int64,
            "... that the start offset passed before anything was written about them.",
        ),
        Column::nullable(
            "newest_delivery",
            Kind::Timestamp,
            "When a delivery ended last; null when none has since the share partition is followed.",
        ),
        Column::nullable(
            "newest_acceptance",
            Kind::Timestamp,
            "When one ended last with an acceptance; null as above.",
        ),
    ];

    fn cells(&self, to: &mut impl Cells) {
        let Self {
            standing,
            figures,
            outcomes,
            ..
        } = self;
        to.put(Cell::Text(&self.key.group));
        to.put(Cell::TopicId(self.key.topic_id));
        to.put(Cell::Int32(self.key.partition));
        to.put(Cell::Int32(self.state_partition.cast_signed()));
        to.put(Cell::Int32(standing.state_epoch));
        to.put(Cell::Int32(standing.leader_epoch));
        to.put(Cell::Int64(standing.start_offset));
        to.put(Cell::Int32(standing.delivery_complete_count));
        figures.put(to);
        to.put(Cell::int8(self.held.map(|held| held.state)));
        to.put(Cell::int16(self.held.map(|held| held.count)));
        to.put(Cell::timestamp(self.held_since));
        to.put(Cell::Timestamp(self.start_since));
        to.put(Cell::Timestamp(self.writes.oldest));
        to.put(Cell::Timestamp(self.writes.newest));
        to.put(Cell::int64(standing.snapshot_offset));
        to.put(count(outcomes.accepted));
        to.put(count(outcomes.released));
        to.put(count(outcomes.archiving));
        let archived: Vec<_> = outcomes
            .archived
            .iter()
            .map(|(count, records)| (*count, i64::try_from(*records).unwrap_or(i64::MAX)))
            .collect();
        to.put(Cell::DeliveryCounts(&archived));
        to.put(count(outcomes.passed_available));
        to.put(count(outcomes.passed_unknown));
        to.put(Cell::timestamp(self.newest_delivery));
        to.put(Cell::timestamp(self.newest_acceptance));
    }
}
