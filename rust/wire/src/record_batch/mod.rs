//! Record batches of format 2, the unit in which Kafka's log is written, checked and read.
//!
//! The header is 61 bytes; a CRC-32C covers everything after itself (attributes to the last record), so base offset,
//! length and leader epoch are outside it. Formats 0 and 1 cannot occur in the state topic and are refused.

mod compression;
mod control;
mod decode;
mod encode;
mod header;
mod headers;
mod snappy;
mod walk;

pub use compression::Compression;
pub use decode::{DecodedBatch, decode_batch};
pub use encode::{
    NewRecord, Producer, RecordHeader, append_marked_batch, encode_batch, encode_marked_batch,
    encode_produced_batch,
};
pub use header::{HEADER_SIZE, RecordBatchHeader, peek_size};
pub use headers::{BatchHeader, BatchHeaders, Checksums};
pub use walk::RecordView;

/// Limits for memory beyond the size of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of the decompressed records of a batch. Default 256 MiB.
    pub max_decompressed_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_decompressed_bytes: 256 << 20,
        }
    }
}

#[cfg(test)]
mod tests;
