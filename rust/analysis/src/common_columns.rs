//! The columns that more than one table has.

use crate::table::{Column, Kind};

pub(crate) const GROUP: Column = Column::new("group", Kind::Text, "Id of the share group.");
pub(crate) const TOPIC_ID: Column = Column::new(
    "topic_id",
    Kind::Text,
    "Id of the topic, a hyphenated UUID.",
);
pub(crate) const PARTITION: Column =
    Column::new("partition", Kind::Int32, "Partition of the topic.");
pub(crate) const RECORD_PARTITION: Column = Column::new(
    "state_partition",
    Kind::Int32,
    "Partition of __share_group_state that holds it.",
);
pub(crate) const STATE_PARTITION: Column = Column::new(
    "state_partition",
    Kind::Int32,
    "Partition of __share_group_state that holds the state.",
);
pub(crate) const SNAPSHOT_OFFSET: Column = Column::nullable(
    "snapshot_offset",
    Kind::Int64,
    "Offset in the state partition of the last snapshot; null when it is missing.",
);
pub(crate) const SNAPSHOT_EPOCH: Column =
    Column::new("snapshot_epoch", Kind::Int32, "Epoch of the last snapshot.");
pub(crate) const STATE_EPOCH: Column =
    Column::new("state_epoch", Kind::Int32, "Epoch of the state.");
pub(crate) const LEADER_EPOCH: Column = Column::new(
    "leader_epoch",
    Kind::Int32,
    "Highest leader epoch that has read the state.",
);
pub(crate) const START_OFFSET: Column = Column::new(
    "start_offset",
    Kind::Int64,
    "Start offset; -1 while not yet resolved.",
);
pub(crate) const DELIVERY_COMPLETE_COUNT: Column = Column::new(
    "delivery_complete_count",
    Kind::Int32,
    "Terminal records at or after the start offset; -1 when unknown.",
);
pub(crate) const END_OFFSET: Column = Column::nullable(
    "end_offset",
    Kind::Int64,
    "Last offset of which something is known; null when nothing is in flight.",
);
pub(crate) const AVAILABLE: Column = Column::new(
    "available",
    Kind::Int64,
    "Records from the start offset on that are available, or in a member's hands.",
);
pub(crate) const ACKNOWLEDGED: Column =
    Column::new("acknowledged", Kind::Int64, "... that are acknowledged.");
pub(crate) const ARCHIVING: Column = Column::new(
    "archiving",
    Kind::Int64,
    "... that are on their way to the dead-letter queue.",
);
pub(crate) const ARCHIVED: Column = Column::new("archived", Kind::Int64, "... that are archived.");
pub(crate) const DELIVERY_COUNTS: Column = Column::new(
    "delivery_counts",
    Kind::DeliveryCounts,
    "How many of these records were delivered how often, by ascending count.",
);
pub(crate) const OLDEST_WRITE: Column = Column::new(
    "oldest_write",
    Kind::Timestamp,
    "When it was initialised, or was seen first in the log.",
);
pub(crate) const NEWEST_WRITE: Column =
    Column::new("newest_write", Kind::Timestamp, "When it last changed.");
