//! Bounded reading of the fields, and writing of those that may not fit.

use crate::error::DraftError;

/// Reads big-endian fields from the front of a key or a value.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    length: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            length: bytes.len(),
        }
    }

    pub(crate) const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The error of the field that would be read next.
    pub(crate) const fn error(&self, field: &'static str) -> DraftError {
        DraftError {
            field,
            position: self.length - self.rest.len(),
        }
    }

    pub(crate) fn array<const N: usize>(
        &mut self,
        field: &'static str,
    ) -> Result<[u8; N], DraftError> {
        let split = self.rest.split_first_chunk::<N>();
        let (head, rest) = split.ok_or_else(|| self.error(field))?;
        self.rest = rest;
        Ok(*head)
    }

    pub(crate) fn i16(&mut self, field: &'static str) -> Result<i16, DraftError> {
        self.array(field).map(i16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self, field: &'static str) -> Result<i32, DraftError> {
        self.array(field).map(i32::from_be_bytes)
    }

    pub(crate) fn i64(&mut self, field: &'static str) -> Result<i64, DraftError> {
        self.array(field).map(i64::from_be_bytes)
    }

    pub(crate) fn u16(&mut self, field: &'static str) -> Result<u16, DraftError> {
        self.array(field).map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32, DraftError> {
        self.array(field).map(u32::from_be_bytes)
    }

    /// A group id: 1 to 32,767 bytes of UTF-8. No share group has an empty id.
    pub(crate) fn group_id(&mut self) -> Result<&'a str, DraftError> {
        let start = *self;
        let length = self.i16("GroupId")?;
        let positive = usize::try_from(length).ok().filter(|length| *length > 0);
        let split = positive.and_then(|length| self.rest.split_at_checked(length));
        let text = split.and_then(|(text, rest)| Some((core::str::from_utf8(text).ok()?, rest)));
        let (text, rest) = text.ok_or_else(|| start.error("GroupId"))?;
        self.rest = rest;
        Ok(text)
    }

    /// Refuses a key of another version than 0.
    pub(crate) fn version(&mut self) -> Result<(), DraftError> {
        let start = *self;
        match self.i16("Version")? {
            0 => Ok(()),
            _ => Err(start.error("Version")),
        }
    }

    /// Refuses bytes after the end.
    pub(crate) const fn finish(self) -> Result<(), DraftError> {
        match self.rest.len() {
            0 => Ok(()),
            _ => Err(self.error("end of the record")),
        }
    }
}

/// Writes a group id.
///
/// # Errors
/// It is empty or longer than 32,767 bytes, which no reader takes.
pub(crate) fn write_group_id(out: &mut Vec<u8>, group: &str) -> Result<(), DraftError> {
    let length = i16::try_from(group.len()).ok().filter(|length| *length > 0);
    let length = length.ok_or_else(|| Reader::new(&[]).error("GroupId"))?;
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(group.as_bytes());
    Ok(())
}
