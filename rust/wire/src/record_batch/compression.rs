//! Kafka's four codecs, read in bounded memory.

use std::io::{Read, Write};

use super::snappy;
use crate::error::WireErrorKind;

/// Codec of the records of a batch (`CompressionType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Compression {
    /// Not at all, as the share coordinator does unless told otherwise.
    #[default]
    None = 0,
    /// Gzip.
    Gzip = 1,
    /// Snappy in the blocks of Java's `SnappyOutputStream`.
    Snappy = 2,
    /// LZ4 frames.
    Lz4 = 3,
    /// Zstandard.
    Zstd = 4,
}

/// Reason for which a codec failed. Where it did is of no use to anyone: the position is that of the compressed records.
pub(super) type Failure = WireErrorKind;

/// Windows of zstd frames, as powers of two: 8 MiB, which every decoder should take (RFC 8878), whatever the limit, and
/// 128 MiB, the most that any level of the library writes.
const ZSTD_WINDOW_LOGS: core::ops::RangeInclusive<u32> = 23..=27;

impl Compression {
    /// Every codec, by its number.
    pub const ALL: [Self; 5] = [Self::None, Self::Gzip, Self::Snappy, Self::Lz4, Self::Zstd];

    /// The codec with this number.
    #[must_use]
    pub fn from_codec(codec: u8) -> Option<Self> {
        Self::ALL.get(usize::from(codec)).copied()
    }

    /// The number of the codec, as in the attributes of a batch.
    #[must_use]
    pub const fn codec(self) -> u8 {
        self as u8
    }

    /// Undoes the compression. Output is read piece by piece up to `limit`, so that neither the sizes written in the
    /// input nor its ratio decide how much memory is taken (KAFKA-20723).
    pub(super) fn decompress(self, input: &[u8], limit: usize) -> Result<Vec<u8>, Failure> {
        match self {
            Self::None => Ok(input.to_vec()),
            Self::Gzip => read_bounded(flate2::bufread::MultiGzDecoder::new(input), limit),
            Self::Snappy => snappy::decompress(input, limit),
            Self::Lz4 => {
                let mut frame = lz4_flex::frame::FrameDecoder::new(input);
                let bytes = read_bounded(&mut frame, limit)?;
                // A frame ends by itself; what follows it would be lost in silence.
                if frame.get_ref().is_empty() {
                    Ok(bytes)
                } else {
                    Err(Failure::Compression)
                }
            }
            Self::Zstd => {
                let decoder = zstd::Decoder::with_buffer(input);
                let mut decoder = decoder.map_err(|_| Failure::Compression)?;
                // The library reserves the window that the frame asks for before it reads a byte: never much more
                // than the caller allows.
                let window = limit.checked_ilog2().unwrap_or(0) + 1;
                let window = window.clamp(*ZSTD_WINDOW_LOGS.start(), *ZSTD_WINDOW_LOGS.end());
                decoder
                    .window_log_max(window)
                    .map_err(|_| Failure::Compression)?;
                read_bounded(decoder, limit)
            }
        }
    }

    pub(super) fn compress(self, input: &[u8]) -> Result<Vec<u8>, Failure> {
        let made = match self {
            Self::None => Ok(input.to_vec()),
            Self::Gzip => {
                let level = flate2::Compression::default();
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(input).and_then(|()| encoder.finish())
            }
            Self::Snappy => return snappy::compress(input),
            Self::Lz4 => {
                // As Kafka's own writer: independent blocks of 64 KiB without checksums.
                let info = lz4_flex::frame::FrameInfo::new()
                    .block_size(lz4_flex::frame::BlockSize::Max64KB)
                    .block_mode(lz4_flex::frame::BlockMode::Independent);
                let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
                let written = encoder.write_all(input);
                written.and_then(|()| encoder.finish().map_err(std::io::Error::from))
            }
            Self::Zstd => zstd::encode_all(input, zstd::DEFAULT_COMPRESSION_LEVEL),
        };
        made.map_err(|_| Failure::Compression)
    }
}

fn read_bounded(source: impl Read, limit: usize) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let one_more = (limit as u64).saturating_add(1);
    source
        .take(one_more)
        .read_to_end(&mut bytes)
        .map_err(|_| Failure::Compression)?;
    if bytes.len() > limit {
        Err(Failure::Limit { allowed: limit })
    } else {
        Ok(bytes)
    }
}
