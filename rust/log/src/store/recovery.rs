//! Result of opening a log.

use crate::corrupt::TornTail;
use crate::damage::Damage;

/// Result of opening: what was found and made good.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Records replayed.
    pub records: u64,
    /// Record batches read.
    pub batches: u64,
    /// Records of types that this release does not know, passed over as Kafka does.
    pub unknown_types: u64,
    /// Batches of markers, passed over.
    pub control_batches: u64,
    /// Unfinished batches that were cut off; no answer had been given for them, unless the sync policy allowed it.
    pub torn: Vec<TornTail>,
    /// Damage that was cut off because the settings ask for a repair.
    pub repaired: Vec<Damage>,
    /// Set if the note of where the logs end could not be read. They were checked without it, as far as that goes:
    /// batches that are missing at the end would not be noticed.
    pub note_damaged: bool,
}

impl Recovery {
    /// Adds what reading one more log found.
    pub(crate) fn add(&mut self, read: &Self) {
        self.records += read.records;
        self.batches += read.batches;
        self.unknown_types += read.unknown_types;
        self.control_batches += read.control_batches;
    }
}
