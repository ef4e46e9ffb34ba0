//! Tests of the hot path, against a log that is whole.

mod aborted;
mod append;
mod copies;
mod deliver;
mod deliver_laws;
mod eviction;
mod log;
mod ring_laws;

use crate::{BatchRing, Buffer, Read};
use log::{Log, LogBatch};
use share_state_core::share_partition::{AbortedTransaction, FetchedBatch};
use share_state_wire::record_batch::Checksums;

use crate::slice::Extent;

/// As far as a run goes.
const ALL: Extent = Extent {
    max_bytes: usize::MAX,
    max_records: u64::MAX,
    window_end: 0,
};

/// A read of these bytes, all of which are records, and of no aborted transaction.
fn plain(asked_offset: i64, bytes: Vec<u8>) -> Read<'static> {
    let end = bytes.len();
    Read {
        asked_offset,
        buffer: Buffer::new(bytes),
        start: 0,
        end,
        aborted: &[],
        checksums: Checksums::Trusted,
    }
}

/// The bytes of plain batches with these offsets.
fn batches(offsets: &[(i64, i64)]) -> Vec<u8> {
    let batches = offsets
        .iter()
        .map(|(base, last)| LogBatch::plain(*base, *last));
    batches.flat_map(|batch| batch.bytes()).collect()
}

/// Batches and aborted transactions that a slice from `offset` on gives to the engine.
fn sliced(
    ring: &mut BatchRing,
    offset: i64,
    extent: Extent,
) -> Option<(Vec<FetchedBatch>, Vec<AbortedTransaction>)> {
    let slice = ring.slice(offset, extent)?;
    Some((slice.fetched, slice.aborted))
}

/// The offsets of a slice from `offset` on, as far as its run goes.
fn offsets(ring: &mut BatchRing, offset: i64) -> Option<Vec<(i64, i64)>> {
    let (fetched, _) = sliced(ring, offset, ALL)?;
    Some(
        fetched
            .iter()
            .map(|b| (b.base_offset, b.last_offset))
            .collect(),
    )
}
