//! The two ways in which Kafka writes lengths: `i16` and `i32` in old versions, compact ones in flexible versions.

use std::borrow::Cow;

use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::primitives::{
    check_string, read_compact_len, read_legacy_len, read_text, write_legacy_string, write_string,
};
use crate::varint::write_unsigned;

/// The most bytes, or elements, whose length can be said.
const MAX_LENGTH: usize = i32::MAX as usize - 1;

/// Format of a version of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) version: i16,
    /// Compact lengths, and tagged fields after each struct (KIP-482).
    pub(super) flexible: bool,
}

impl Format {
    pub(super) fn read_string<'a>(
        self,
        r: &mut Reader<'a>,
    ) -> Result<Option<Cow<'a, str>>, WireError> {
        let length = if self.flexible {
            read_compact_len(r)?
        } else {
            read_legacy_len(r)?
        };
        length.map(|length| read_text(r, length)).transpose()
    }

    pub(super) fn write_string(
        self,
        out: &mut Vec<u8>,
        text: Option<&str>,
    ) -> Result<(), WireError> {
        check_string(text.map_or(0, str::len))?;
        if self.flexible {
            write_string(out, text);
        } else {
            write_legacy_string(out, text);
        }
        Ok(())
    }

    /// The length of bytes or of an array; `None` for null.
    pub(super) fn read_len(self, r: &mut Reader<'_>) -> Result<Option<usize>, WireError> {
        if self.flexible {
            return read_compact_len(r);
        }
        let start = *r;
        match r.i32()? {
            -1 => Ok(None),
            length => match usize::try_from(length) {
                Ok(length) => Ok(Some(length)),
                Err(_) => Err(start.error(too_long(i64::from(length)))),
            },
        }
    }

    /// Writes the length of bytes or of an array; `None` for null.
    pub(super) fn write_len(self, out: &mut Vec<u8>, len: Option<usize>) -> Result<(), WireError> {
        check_length(len.unwrap_or(0))?;
        if self.flexible {
            write_unsigned(out, len.map_or(0, |len| len as u32 + 1));
        } else {
            let len = len.map_or(-1, |len| len as i32);
            out.extend_from_slice(&len.to_be_bytes());
        }
        Ok(())
    }

    /// Writes the size of a tagged field.
    pub(super) fn write_size(self, out: &mut Vec<u8>, size: usize) -> Result<(), WireError> {
        check_length(size)?;
        write_unsigned(out, size as u32);
        Ok(())
    }

    /// The length of an array of elements of at least `min_size` bytes; `None` for null.
    pub(super) fn read_count(
        self,
        r: &mut Reader<'_>,
        min_size: usize,
    ) -> Result<Option<usize>, WireError> {
        let start = *r;
        let Some(count) = self.read_len(r)? else {
            return Ok(None);
        };
        r.admit(count, min_size, start)?;
        Ok(Some(count))
    }
}

const fn too_long(length: i64) -> WireErrorKind {
    WireErrorKind::Length {
        length,
        max: MAX_LENGTH as i64,
    }
}

fn check_length(length: usize) -> Result<(), WireError> {
    if length <= MAX_LENGTH {
        return Ok(());
    }
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    Err(WireError::unwritable(too_long(length)))
}
