//! A whole batch after a wrong header. The checksum covers what follows it, so it tells where the batch ends even if the
//! length does not.
//!
//! A crash leaves pages that were never written, and these hold zeros. It changes no other byte. So a header that is wrong in
//! another way, before a batch that is whole, is damage: the batch was written, and perhaps confirmed.

use std::io::{self, Read, Seek, SeekFrom};

use share_state_wire::record_batch::{Limits, decode_batch};

use crate::budget::Budget;
use crate::page::rest_of_page;

/// Base offset (8), length (4), leader epoch (4), format (1), checksum (4).
const PREFIX: usize = 21;
/// Base offset and length: what the length does not count.
const OVERHEAD: u64 = 12;
pub(crate) const LENGTH: std::ops::Range<usize> = 8..12;
const MAGIC_AT: usize = 16;
const CRC: std::ops::Range<usize> = 17..PREFIX;
/// No batch is larger.
const LARGEST: u64 = 1 << 31;

/// A whole batch whose header is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrongHeader {
    /// Position of the end of the batch.
    pub end: u64,
    /// Set if a page that was never written explains the header.
    pub is_unwritten: bool,
}

/// Looks for a whole batch at `position` whose header is not what was written, which began with `base_offset`. Bytes that fit the
/// checksum too often were made to: no crash leaves them, and they count as a header that no page explains.
pub(crate) fn find(
    source: &mut (impl Read + Seek),
    position: u64,
    base_offset: i64,
) -> io::Result<Option<WrongHeader>> {
    let mut budget = Budget::for_file(source)?;
    source.seek(SeekFrom::Start(position))?;
    let mut stored = Vec::with_capacity(PREFIX);
    source
        .by_ref()
        .take(PREFIX as u64)
        .read_to_end(&mut stored)?;
    let Ok(stored) = <[u8; PREFIX]>::try_from(stored) else {
        return Ok(None);
    };
    let mut crc = [0; 4];
    crc.copy_from_slice(stored.get(CRC).unwrap_or_default());
    let crc = u32::from_be_bytes(crc);
    let mut body = Vec::new();
    let mut computed = 0;
    let mut chunk = [0; 1 << 12];
    let mut rest = source.by_ref().take(LARGEST);
    loop {
        let read = rest.read(&mut chunk)?;
        if read == 0 {
            return Ok(None);
        }
        for byte in chunk.iter().take(read) {
            body.push(*byte);
            computed = crc32c::crc32c_append(computed, std::slice::from_ref(byte));
            let size = (PREFIX + body.len()) as u64;
            if computed != crc {
                continue;
            }
            let end = position + size;
            if !budget.spend(size) {
                return Ok(Some(WrongHeader {
                    end,
                    is_unwritten: false,
                }));
            }
            let written = written(&stored, base_offset, size);
            if is_batch(&written, &body) {
                return Ok((stored != written).then_some(WrongHeader {
                    end,
                    is_unwritten: is_unwritten(&stored, &written, position),
                }));
            }
        }
    }
}

/// Returns the header as it was when the batch was written.
fn written(stored: &[u8; PREFIX], base_offset: i64, size: u64) -> [u8; PREFIX] {
    let mut written = *stored;
    let length = u32::try_from(size - OVERHEAD).unwrap_or(u32::MAX);
    if let Some(place) = written.first_chunk_mut() {
        *place = base_offset.to_be_bytes();
    }
    if let Some(place) = written.get_mut(LENGTH) {
        place.copy_from_slice(&length.to_be_bytes());
    }
    if let Some(magic) = written.get_mut(MAGIC_AT) {
        *magic = 2;
    }
    written
}

/// The frames of its records must fit too, for among millions of bytes some checksum fits by chance.
fn is_batch(prefix: &[u8; PREFIX], body: &[u8]) -> bool {
    decode_batch(&[prefix, body].concat(), &Limits::default()).is_ok()
}

/// Returns `true` if all that differs lies on a page that holds nothing but zeros of this batch.
fn is_unwritten(stored: &[u8; PREFIX], written: &[u8; PREFIX], position: u64) -> bool {
    let on_page = rest_of_page(position);
    match (stored.split_at_checked(on_page), written.get(on_page..)) {
        (Some((before, after)), Some(kept)) => {
            before.iter().all(|byte| *byte == 0) && after == kept
        }
        // The whole prefix, checksum and more, lies on one page: then nothing of it would be there.
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use share_state_wire::record_batch::{Compression, NewRecord, encode_batch};

    use super::*;

    const BASE: i64 = 0x0102_0304_0506_0708;

    fn batch(value: &[u8]) -> Vec<u8> {
        let record = NewRecord {
            timestamp: 1,
            key: Some(b"k"),
            value: Some(value),
        };
        encode_batch(BASE, 0, Compression::None, &[record]).unwrap()
    }

    fn found(bytes: &[u8], position: u64) -> Option<WrongHeader> {
        find(&mut Cursor::new(bytes), position, BASE).unwrap()
    }

    #[test]
    fn a_batch_is_found_whatever_its_length_says_and_whatever_follows() {
        let whole = batch(&[7; 500]);
        let mut cases = 0;
        for more in [0, 1, 12, 500] {
            for at in LENGTH {
                for flip in 1..=u8::MAX {
                    let mut bytes = [&whole[..], &vec![9; more]].concat();
                    bytes[at] ^= flip;
                    let expected = WrongHeader {
                        end: whole.len() as u64,
                        is_unwritten: false,
                    };
                    assert_eq!(found(&bytes, 0), Some(expected), "byte {at}, {flip}");
                    cases += 1;
                }
            }
        }
        assert_eq!(cases, 4 * 4 * 255);
    }

    #[test]
    fn a_cut_batch_a_right_header_and_few_bytes_are_none() {
        let mut bytes = batch(b"v");
        assert_eq!(found(&bytes, 0), None);
        bytes[11] ^= 1;
        bytes.pop();
        assert_eq!(found(&bytes, 0), None);
        for few in 0..PREFIX {
            assert_eq!(found(&bytes[..few], 0), None);
        }
    }

    #[test]
    fn bytes_that_fit_the_checksum_by_chance_are_no_batch() {
        let junk = [7; 80];
        let mut bytes = vec![9; PREFIX];
        bytes[CRC].copy_from_slice(&crc32c::crc32c(&junk).to_be_bytes());
        bytes.extend(junk);
        assert_eq!(found(&bytes, 0), None);
    }

    /// The four bytes that lead the register of CRC-32C from one value to another.
    fn bytes_between(from: u32, to: u32) -> [u8; 4] {
        let step = |index: u8| !crc32c::crc32c_append(!u32::from(index), &[0]);
        let mut register = to;
        for _ in 0..4 {
            let index = (0..=u8::MAX).find(|index| (step(*index) ^ register) >> 24 == 0);
            let index = index.expect("one entry of the table has this first byte");
            register = (register ^ step(index)) << 8 | u32::from(index);
        }
        (register ^ from).to_le_bytes()
    }

    #[test]
    fn bytes_that_fit_the_checksum_everywhere_do_not_take_forever() {
        let register: u32 = 0x1234_5678;
        let mut bytes = vec![9; PREFIX];
        bytes[CRC].copy_from_slice(&(!register).to_be_bytes());
        bytes.extend(bytes_between(u32::MAX, register));
        bytes.extend(bytes_between(register, register).repeat(1 << 20));
        for end in [PREFIX + 4, PREFIX + 8, bytes.len()] {
            let body = &bytes[PREFIX..end];
            assert_eq!(crc32c::crc32c(body), !register, "{end}");
        }
        assert!(!found(&bytes, 0).unwrap().is_unwritten);
    }

    #[test]
    fn zeros_to_the_end_of_a_page_are_no_damage() {
        let mut unwritten = 0;
        for on_page in 1..=PREFIX {
            let begins = 512 - on_page;
            let mut bytes = vec![0; begins];
            bytes.extend(batch(b"v"));
            bytes[begins..512].fill(0);
            match found(&bytes, begins as u64) {
                Some(header) => {
                    assert!(header.is_unwritten, "{on_page} bytes on the page");
                    unwritten += 1;
                }
                // The checksum is gone, or there is nothing to miss.
                None => assert!(on_page > 17, "{on_page} bytes on the page"),
            }
            // One byte elsewhere is none of a page's doing.
            let mut bytes = vec![0; begins];
            bytes.extend(batch(b"v"));
            bytes[begins + 11] ^= 0x10;
            assert!(!found(&bytes, begins as u64).unwrap().is_unwritten);
        }
        assert_eq!(unwritten, 17);
    }
}
