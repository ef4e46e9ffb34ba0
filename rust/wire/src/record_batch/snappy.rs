//! Snappy as Kafka writes it: the framing of the Java library (`SnappyOutputStream`, "xerial"), which is a 16-byte
//! header and blocks of `length i32 · raw snappy`. Other clients write one raw block; both are read.

use crate::error::WireErrorKind as Failure;

const STREAM_MAGIC: &[u8; 8] = b"\x82SNAPPY\0";
/// Version 1, readable since version 1.
const STREAM_VERSIONS: &[u8; 8] = &[0, 0, 0, 1, 0, 0, 0, 1];
/// Bytes of input to a block, the Java library's default.
const BLOCK: usize = 32 * 1024;
/// A raw block says how much it yields, and the decoder wants that memory up front. The densest element is a copy of 64
/// bytes told in 3. So a block that claims more than 22 for each of its own lies, and nothing is reserved for it.
const MAX_RATIO: usize = 22;

pub(super) fn decompress(input: &[u8], limit: usize) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    let Some(mut rest) = input.strip_prefix(STREAM_MAGIC) else {
        block(input, limit, &mut out)?;
        return Ok(out);
    };
    // The versions are not looked at: only one was ever written.
    (_, rest) = rest.split_first_chunk::<8>().ok_or(Failure::Compression)?;
    while !rest.is_empty() {
        let (length, after) = rest.split_first_chunk::<4>().ok_or(Failure::Compression)?;
        let length = usize::try_from(i32::from_be_bytes(*length));
        let length = length.map_err(|_| Failure::Compression)?;
        let (raw, after) = after.split_at_checked(length).ok_or(Failure::Compression)?;
        block(raw, limit, &mut out)?;
        rest = after;
    }
    Ok(out)
}

fn block(raw: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), Failure> {
    let yields = snap::raw::decompress_len(raw).map_err(|_| Failure::Compression)?;
    if yields > raw.len().saturating_mul(MAX_RATIO) {
        return Err(Failure::Compression);
    }
    if yields > limit - out.len() {
        return Err(Failure::Limit { allowed: limit });
    }
    let before = out.len();
    out.resize(before + yields, 0);
    let space = out.get_mut(before..).unwrap_or_default();
    match snap::raw::Decoder::new().decompress(raw, space) {
        Ok(written) if written == yields => Ok(()),
        _ => Err(Failure::Compression),
    }
}

pub(super) fn compress(input: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::with_capacity(16 + input.len() / 2);
    out.extend_from_slice(STREAM_MAGIC);
    out.extend_from_slice(STREAM_VERSIONS);
    let mut encoder = snap::raw::Encoder::new();
    for chunk in input.chunks(BLOCK) {
        let raw = encoder
            .compress_vec(chunk)
            .map_err(|_| Failure::Compression)?;
        let length = i32::try_from(raw.len()).map_err(|_| Failure::Compression)?;
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&raw);
    }
    Ok(out)
}
