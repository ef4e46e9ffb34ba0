//! Row of a history: a change that a record of the state topic made.

use core::fmt;

use crate::ids::SharePartitionKey;
use crate::offset::OffsetRange;
use crate::state::group_offset::ShareGroupOffset;

/// Place and time of a record of the state topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct At {
    /// Its offset in its partition of the state topic.
    pub offset: i64,
    /// Its timestamp, ms since the epoch.
    pub timestamp: i64,
}

/// Delivery state of a record of the topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delivery {
    /// Id of the delivery state; see [`crate::record_state::RecordState`].
    pub state: i8,
    /// Number of deliveries.
    pub count: i16,
}

/// State of the share partition as a whole, after a record of the state topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    /// Start offset; -1 while not yet resolved.
    pub start_offset: i64,
    /// Terminal records at or after the start offset; -1 when unknown.
    pub delivery_complete_count: i32,
    /// Epoch of the last snapshot.
    pub snapshot_epoch: i32,
    /// Epoch of the state.
    pub state_epoch: i32,
    /// Leader epoch of the last record that named one.
    pub leader_epoch: i32,
    /// Offset in the state topic of the last snapshot; `None` when it is missing, see
    /// [`crate::group_offset::ShareGroupOffset::incomplete`]. Nothing before the least of a state partition is needed any more.
    pub snapshot_offset: Option<i64>,
}

impl Standing {
    /// Returns the summary of a state.
    #[must_use]
    pub const fn of(state: &ShareGroupOffset, snapshot_offset: Option<i64>) -> Self {
        Self {
            start_offset: state.start_offset,
            delivery_complete_count: state.delivery_complete_count,
            snapshot_epoch: state.snapshot_epoch,
            state_epoch: state.state_epoch,
            leader_epoch: state.leader_epoch,
            snapshot_offset,
        }
    }
}

/// Cause of a change, as far as the log tells.
///
/// The first nine concern the share partition as a whole and come without offsets; [`Cause::Found`] comes with and without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The state was made, or made again with another state epoch (RPC 83): all that was known of records is gone.
    Initialised,
    /// The log holds nothing older of this share partition: how it came to be so is not told.
    Found,
    /// The state was deleted (RPC 86), and all that was known of records with it.
    Deleted,
    /// Another leader epoch: a leader has read the state (RPC 84).
    Led,
    /// The start offset, -1 until then, is known: `share.auto.offset.reset` was applied.
    StartOffsetResolved,
    /// A snapshot repeats what was known.
    Snapshot,
    /// Only the delivery complete count changed.
    Counted,
    /// A snapshot whose epoch does not rise, which no coordinator should write.
    SnapshotEpochNotRising,
    /// An update of another snapshot epoch than the current one, which no coordinator should write.
    UpdateOfOtherSnapshot,
    /// A member accepted the records.
    Accepted,
    /// Members released the records, or their locks ran out: the log does not tell which.
    Released,
    /// The records are on their way to the dead-letter queue (KIP-1191).
    Archiving,
    /// The records will not be delivered again: rejected, delivered as often as the limit allows, or reported as gaps.
    Archived,
    /// A delivery state that this release does not know.
    OtherState,
    /// The start offset moved past the records. What was known of them is what became of them; what was not known was never
    /// written: passed with the log start offset, by an administrator, or archived without a write.
    Passed,
    /// The start offset went back to before the records, as brokers before 4.4 may write (KAFKA-20733).
    StartOffsetWentBack,
    /// The delivery count, or the state at the same count, went back, which only a snapshot can do.
    WentBack,
    /// A snapshot no longer tells of the records, though they are not below the start offset.
    Forgotten,
}

impl Cause {
    /// All of them, in order.
    pub const ALL: [Self; 18] = [
        Self::Initialised,
        Self::Found,
        Self::Deleted,
        Self::Led,
        Self::StartOffsetResolved,
        Self::Snapshot,
        Self::Counted,
        Self::SnapshotEpochNotRising,
        Self::UpdateOfOtherSnapshot,
        Self::Accepted,
        Self::Released,
        Self::Archiving,
        Self::Archived,
        Self::OtherState,
        Self::Passed,
        Self::StartOffsetWentBack,
        Self::WentBack,
        Self::Forgotten,
    ];

    /// The cause of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.name() == name)
    }

    /// The name that tables and files show.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Initialised => "initialised",
            Self::Found => "found",
            Self::Deleted => "deleted",
            Self::Led => "led",
            Self::StartOffsetResolved => "start_offset_resolved",
            Self::Snapshot => "snapshot",
            Self::Counted => "counted",
            Self::SnapshotEpochNotRising => "snapshot_epoch_not_rising",
            Self::UpdateOfOtherSnapshot => "update_of_other_snapshot",
            Self::Accepted => "accepted",
            Self::Released => "released",
            Self::Archiving => "archiving",
            Self::Archived => "archived",
            Self::OtherState => "other_state",
            Self::Passed => "passed",
            Self::StartOffsetWentBack => "start_offset_went_back",
            Self::WentBack => "went_back",
            Self::Forgotten => "forgotten",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A change of an interval of offsets, or of the share partition as a whole.
///
/// Rows of one record of the state topic stand together: first those without offsets, then the intervals in ascending order.
/// They share `at` and `standing`, the latter being what holds after the record. Applying the rows in order, interval by
/// interval, gives the folded state after every record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRow {
    /// The share partition.
    pub key: SharePartitionKey,
    /// The record of the state topic that made the change.
    pub at: At,
    /// The offsets, or `None` for the share partition as a whole.
    pub range: Option<OffsetRange>,
    /// State of each of them before; `None` when nothing was known.
    pub from: Option<Delivery>,
    /// State of each of them now; `None` when nothing is known.
    pub to: Option<Delivery>,
    /// Cause of the change.
    pub cause: Cause,
    /// The share partition after the record; of a deleted one what stood last.
    pub standing: Standing,
}
