//! Strings, arrays, ids and tagged fields as Kafka writes them.
//!
//! *Flexible* (requests, answers, record values): a length is an unsigned varint one above the true one, 0 is null, and
//! each struct ends with its tagged fields. *Non-flexible* (record keys): a string has an `i16` length, nothing is tagged.

use std::borrow::Cow;

use share_state_core::ids::TopicId;

use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::varint::{read_unsigned, unsigned_len, write_unsigned};

/// The longest string that Kafka's own classes read or write, bytes.
pub(crate) const MAX_STRING: usize = i16::MAX as usize;

/// The most tagged fields that a header or a struct may have. Kafka's have a handful; each takes two bytes and some time.
const MAX_TAGS: usize = 64;

/// The most elements reserved before the first is read: the count is checked against the rest of the input, but an
/// element may be larger in memory than in bytes.
const MAX_RESERVE: usize = 1024;

fn string_bytes<'a>(r: &mut Reader<'a>, length: usize) -> Result<&'a [u8], WireError> {
    if length > MAX_STRING {
        let kind = WireErrorKind::Length {
            length: length as i64,
            max: MAX_STRING as i64,
        };
        return Err(r.error(kind));
    }
    r.take(length)
}

fn utf8<'a>(r: &mut Reader<'a>, length: usize) -> Result<&'a str, WireError> {
    let start = *r;
    core::str::from_utf8(string_bytes(r, length)?).map_err(|_| start.error(WireErrorKind::Utf8))
}

/// A string as Java reads it: what is not UTF-8 becomes U+FFFD, and the result is a string that can be written again.
pub(crate) fn read_text<'a>(r: &mut Reader<'a>, length: usize) -> Result<Cow<'a, str>, WireError> {
    let start = *r;
    let text = String::from_utf8_lossy(string_bytes(r, length)?);
    check_string(text.len()).map_err(|error| start.error(error.kind))?;
    Ok(text)
}

/// The length that a compact length stands for; `None` for null.
#[inline]
pub(crate) fn read_compact_len(r: &mut Reader<'_>) -> Result<Option<usize>, WireError> {
    Ok(read_unsigned(r)?
        .checked_sub(1)
        .map(|length| length as usize))
}

/// A compact string that may be null.
pub(crate) fn read_nullable_string<'a>(r: &mut Reader<'a>) -> Result<Option<&'a str>, WireError> {
    let length = read_compact_len(r)?;
    length.map(|length| utf8(r, length)).transpose()
}

/// A compact string.
pub(crate) fn read_string<'a>(r: &mut Reader<'a>) -> Result<&'a str, WireError> {
    let start = *r;
    read_nullable_string(r)?.ok_or(start.error(WireErrorKind::Null))
}

/// Bytes that `text` takes as compact string.
///
/// # Errors
/// The string is longer than Kafka's classes read.
pub(crate) fn string_size(text: Option<&str>) -> Result<usize, WireError> {
    let length = text.map_or(0, str::len);
    check_string(length)?;
    Ok(unsigned_len(length as u32 + 1) + length)
}

/// Refuses a string that no reader would take.
pub(crate) fn check_string(length: usize) -> Result<(), WireError> {
    if length <= MAX_STRING {
        return Ok(());
    }
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    Err(WireError::unwritable(WireErrorKind::Length {
        length,
        max: MAX_STRING as i64,
    }))
}

/// Writes a compact string whose size was asked before.
pub(crate) fn write_string(out: &mut Vec<u8>, text: Option<&str>) {
    write_unsigned(out, text.map_or(0, |text| text.len() as u32 + 1));
    out.extend_from_slice(text.unwrap_or_default().as_bytes());
}

/// The `i16` length of a string; `None` for null.
pub(crate) fn read_legacy_len(r: &mut Reader<'_>) -> Result<Option<usize>, WireError> {
    let start = *r;
    match r.i16()? {
        -1 => Ok(None),
        length => {
            let kind = WireErrorKind::Length {
                length: i64::from(length),
                max: MAX_STRING as i64,
            };
            let length = usize::try_from(length).map_err(|_| start.error(kind))?;
            Ok(Some(length))
        }
    }
}

/// A string with an `i16` length; `None` for null.
pub(crate) fn read_legacy_string<'a>(r: &mut Reader<'a>) -> Result<Option<&'a str>, WireError> {
    let length = read_legacy_len(r)?;
    length.map(|length| utf8(r, length)).transpose()
}

/// Writes a string with an `i16` length, once [`check_string`] has passed it.
pub(crate) fn write_legacy_string(out: &mut Vec<u8>, text: Option<&str>) {
    out.extend_from_slice(&text.map_or(-1, |text| text.len() as i16).to_be_bytes());
    out.extend_from_slice(text.unwrap_or_default().as_bytes());
}

pub(crate) fn read_topic_id(r: &mut Reader<'_>) -> Result<TopicId, WireError> {
    r.array().map(TopicId)
}

/// The count of a compact array that may not be null, of elements of at least `min_size` bytes.
#[inline]
pub(crate) fn read_array_len(r: &mut Reader<'_>, min_size: usize) -> Result<usize, WireError> {
    let start = *r;
    let count = read_compact_len(r)?.ok_or(start.error(WireErrorKind::Null))?;
    r.admit(count, min_size, start)?;
    Ok(count)
}

/// A compact array that may not be null.
pub(crate) fn read_array<'a, T>(
    r: &mut Reader<'a>,
    min_size: usize,
    mut element: impl FnMut(&mut Reader<'a>) -> Result<T, WireError>,
) -> Result<Vec<T>, WireError> {
    let count = read_array_len(r, min_size)?;
    let mut elements = Vec::with_capacity(count.min(MAX_RESERVE));
    for _ in 0..count {
        elements.push(element(r)?);
    }
    Ok(elements)
}

/// Bytes that the count of a compact array takes.
///
/// # Errors
/// The count does not fit Kafka's `int`.
pub(crate) fn array_len_size(count: usize) -> Result<usize, WireError> {
    match u32::try_from(count) {
        Ok(count) if count < i32::MAX as u32 => Ok(unsigned_len(count + 1)),
        _ => {
            let possible = i32::MAX as usize - 1;
            Err(WireError::unwritable(WireErrorKind::Count {
                count: count as u64,
                possible,
            }))
        }
    }
}

/// Writes the count of a compact array, once [`array_len_size`] has passed it.
pub(crate) fn write_array_len(out: &mut Vec<u8>, count: usize) {
    write_unsigned(out, count as u32 + 1);
}

/// The tagged fields at the end of a struct or of a header. `field` gets each tag with exactly its bytes; what it leaves unread is
/// dropped.
pub(crate) fn read_tags<'a, E: From<WireError>>(
    r: &mut Reader<'a>,
    mut field: impl FnMut(u32, Reader<'a>) -> Result<(), E>,
) -> Result<(), E> {
    let start = *r;
    let count = read_unsigned(r)? as usize;
    let possible = (r.remaining() / 2).min(MAX_TAGS);
    if count > possible {
        let count = count as u64;
        return Err(start.error(WireErrorKind::Count { count, possible }).into());
    }
    let mut next = 0;
    for _ in 0..count {
        let start = *r;
        let tag = read_unsigned(r)?;
        if tag < next {
            return Err(start.error(WireErrorKind::TagOrder { tag }).into());
        }
        next = tag + 1;
        let size = read_unsigned(r)? as usize;
        field(tag, r.sub(size)?)?;
    }
    Ok(())
}

/// Passes over tagged fields of which none is known.
pub(crate) fn skip_tags(r: &mut Reader<'_>) -> Result<(), WireError> {
    read_tags(r, |_, _| Ok(()))
}

#[cfg(test)]
mod tests;
