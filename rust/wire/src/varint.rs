//! Variable-length integers: unsigned (flexible messages) and zig-zag (records of a batch).
//!
//! A number may be written with needless zero groups (`80 80 00`); Kafka accepts that and so does this, but it writes
//! the shortest form. Bits beyond the type are refused, where Kafka drops them.

use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};

#[inline]
fn read_groups(r: &mut Reader<'_>, max_bytes: u32, max: u64) -> Result<u64, WireError> {
    // Most numbers are small.
    match r.short() {
        Some(value) => Ok(u64::from(value)),
        None => read_long_groups(r, max_bytes, max),
    }
}

#[cold]
fn read_long_groups(r: &mut Reader<'_>, max_bytes: u32, max: u64) -> Result<u64, WireError> {
    let start = *r;
    let mut value = 0u64;
    for i in 0..max_bytes {
        let byte = r.u8()?;
        let group = u64::from(byte & 0x7f);
        // Only the tenth byte of a 64-bit number can lose bits here.
        if group.leading_zeros() < 7 * i {
            break;
        }
        value |= group << (7 * i);
        if byte & 0x80 == 0 {
            return if value <= max {
                Ok(value)
            } else {
                Err(start.error(WireErrorKind::Varint))
            };
        }
    }
    Err(start.error(WireErrorKind::Varint))
}

fn write_groups(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

const fn groups(value: u64) -> usize {
    (64 - (value | 1).leading_zeros()).div_ceil(7) as usize
}

/// An unsigned number of at most 5 bytes and at most `i32::MAX`, for Kafka keeps all of these in an `int`.
#[inline]
pub(crate) fn read_unsigned(r: &mut Reader<'_>) -> Result<u32, WireError> {
    read_groups(r, 5, i32::MAX as u64).map(|value| value as u32)
}

pub(crate) fn write_unsigned(out: &mut Vec<u8>, value: u32) {
    write_groups(out, u64::from(value));
}

pub(crate) const fn unsigned_len(value: u32) -> usize {
    groups(value as u64)
}

const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

const fn unzigzag(bits: u64) -> i64 {
    (bits >> 1) as i64 ^ -((bits & 1) as i64)
}

/// A signed 32-bit number of at most 5 bytes.
#[inline]
pub(crate) fn read_signed(r: &mut Reader<'_>) -> Result<i32, WireError> {
    // The bits of a 32-bit number zig-zag to one that fits an i32 again.
    read_groups(r, 5, u64::from(u32::MAX)).map(|bits| unzigzag(bits) as i32)
}

/// A signed 64-bit number of at most 10 bytes.
#[inline]
pub(crate) fn read_long(r: &mut Reader<'_>) -> Result<i64, WireError> {
    read_groups(r, 10, u64::MAX).map(unzigzag)
}

pub(crate) fn write_long(out: &mut Vec<u8>, value: i64) {
    write_groups(out, zigzag(value));
}

pub(crate) const fn long_len(value: i64) -> usize {
    groups(zigzag(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unsigned(bytes: &[u8]) -> Result<u32, WireError> {
        let mut r = Reader::new(bytes);
        let value = read_unsigned(&mut r)?;
        r.finish().map(|()| value)
    }

    #[test]
    fn an_unsigned_number_has_at_most_five_bytes_and_fits_an_int() {
        let max = [0xff, 0xff, 0xff, 0xff, 0x07];
        assert_eq!(unsigned(&max), Ok(i32::MAX as u32));
        for bad in [
            &[0x80, 0x80, 0x80, 0x80, 0x08][..],
            &[0xff, 0xff, 0xff, 0xff, 0x7f],
            &[0x80, 0x80, 0x80, 0x80, 0x80],
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
        ] {
            assert_eq!(unsigned(bad), Err(WireError::new(0, WireErrorKind::Varint)));
        }
        let cut = unsigned(&[0x80, 0x80]).unwrap_err();
        assert_eq!(
            cut,
            WireError::new(
                2,
                WireErrorKind::Truncated {
                    needed: 1,
                    remaining: 0
                }
            )
        );
    }

    #[test]
    fn needless_zero_groups_are_accepted() {
        assert_eq!(unsigned(&[0x80, 0x80, 0x00]), Ok(0));
        assert_eq!(unsigned(&[0x81, 0x00]), Ok(1));
    }

    #[test]
    fn a_long_of_ten_bytes_may_not_lose_bits() {
        let mut bytes = [0xff; 10];
        for (last, good) in [(0x01, true), (0x02, false), (0x03, false), (0x80, false)] {
            bytes[9] = last;
            assert_eq!(
                read_long(&mut Reader::new(&bytes)).is_ok(),
                good,
                "{last:#x}"
            );
        }
        bytes[9] = 1;
        assert_eq!(read_long(&mut Reader::new(&bytes)), Ok(i64::MIN));
    }

    proptest! {
        #[test]
        fn every_number_comes_back_and_takes_the_bytes_foretold(u in 0..=i32::MAX as u32, i: i32, l: i64) {
            let mut out = Vec::new();
            write_unsigned(&mut out, u);
            prop_assert_eq!(out.len(), unsigned_len(u));
            prop_assert_eq!(unsigned(&out), Ok(u));
            out.clear();
            write_long(&mut out, i64::from(i));
            prop_assert_eq!(read_signed(&mut Reader::new(&out)), Ok(i));
            out.clear();
            write_long(&mut out, l);
            prop_assert_eq!(out.len(), long_len(l));
            prop_assert_eq!(read_long(&mut Reader::new(&out)), Ok(l));
        }
    }
}
