//! Records of one share partition that a member is given.

use share_state_core::share_partition::AcquiredRange;

use crate::slice::Piece;

/// Acquired ranges, and the whole batches that hold them as pieces of the frames in which they came.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Ranges that the member now holds, ascending; empty when nothing was available.
    pub acquired: Vec<AcquiredRange>,
    /// The offset from which the engine wanted records.
    pub fetch_offset: i64,
    /// Number of batches in the pieces.
    pub batches: usize,
    pub(crate) pieces: Vec<Piece>,
}

impl Delivery {
    /// Offsets that were acquired, those without a record included.
    #[must_use]
    pub fn record_count(&self) -> u64 {
        self.acquired
            .iter()
            .map(|acquired| acquired.range.len())
            .sum()
    }

    /// Bytes of the record batches.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.pieces
            .iter()
            .map(|piece| piece.end - piece.start)
            .sum()
    }

    /// The record batches, to be written one after the other.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().map(Piece::bytes)
    }
}
