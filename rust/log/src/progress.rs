//! Progress of a load.

/// Progress of a load, as told to the callback of [`crate::StateStore::open`] before each state partition, after about
/// every MiB, and at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// State partitions that are loaded.
    pub partitions_done: u32,
    /// State partitions of the store.
    pub partitions_total: u32,
    /// Bytes of segments read.
    pub bytes_done: u64,
    /// Bytes of segments there are.
    pub bytes_total: u64,
    /// Records replayed.
    pub records: u64,
}
