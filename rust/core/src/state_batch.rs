//! A persisted stretch of records in one state, and how such stretches merge.

/// `[first_offset, last_offset]` in one delivery state (Kafka: `PersisterStateBatch`, `StateBatch` of the records).
///
/// Plain data as it stands on the wire: nothing is promised about order of the offsets or known ids. State ids from 5
/// on, which no released Kafka writes, are carried along unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateBatch {
    /// First offset.
    pub first_offset: i64,
    /// Last offset, inclusive.
    pub last_offset: i64,
    /// Id of the delivery state; see [`crate::record_state::RecordState`].
    pub delivery_state: i8,
    /// How often the records were delivered.
    pub delivery_count: i16,
}
