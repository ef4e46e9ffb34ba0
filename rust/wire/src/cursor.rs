//! A reader that tracks its position and cannot leave its buffer.

use crate::error::{WireError, WireErrorKind};

/// Reads big-endian integers and slices from the front of a buffer. Public only as an argument of the sealed trait of
/// message fields; nobody outside can name it.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
    /// Position in the whole at which `rest` ends, so that a read moves nothing but `rest`.
    end: usize,
    /// Number of elements of arrays that may still be read.
    elements: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(buf: &'a [u8]) -> Self {
        Self::at(buf, 0)
    }

    /// A reader of `buf` that stands at `position` of a larger whole, for the positions in errors.
    pub(crate) const fn at(buf: &'a [u8], position: usize) -> Self {
        Self {
            rest: buf,
            end: position + buf.len(),
            elements: usize::MAX,
        }
    }

    /// The same reader of at most so many elements, all arrays together.
    pub(crate) const fn within(self, elements: usize) -> Self {
        Self { elements, ..self }
    }

    /// Admits an array whose count stands at `start`. It is refused when the rest cannot hold as many elements of at least
    /// `min_size` bytes, so memory stays in proportion to the input (CVE-2022-34917 is the lack of this), and when there
    /// are more elements than the reader may read.
    #[inline]
    pub(crate) fn admit(
        &mut self,
        count: usize,
        min_size: usize,
        start: Self,
    ) -> Result<(), WireError> {
        let possible = (self.rest.len() / min_size.max(1)).min(self.elements);
        if count > possible {
            let count = count as u64;
            return Err(start.error(WireErrorKind::Count { count, possible }));
        }
        self.elements -= count;
        Ok(())
    }

    /// Its position in the whole.
    pub(crate) const fn position(&self) -> usize {
        self.end - self.rest.len()
    }

    pub(crate) const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The unread rest.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The error `kind` at the byte that would be read next.
    pub(crate) const fn error(&self, kind: WireErrorKind) -> WireError {
        WireError::new(self.position(), kind)
    }

    #[cold]
    const fn truncated(&self, needed: usize) -> WireError {
        self.error(WireErrorKind::Truncated {
            needed,
            remaining: self.rest.len(),
        })
    }

    /// The next number of one or two groups of seven bits; otherwise nothing is read.
    #[inline]
    pub(crate) fn short(&mut self) -> Option<u16> {
        let (value, rest) = match self.rest {
            [low @ ..0x80, rest @ ..] => (u16::from(*low), rest),
            [low, high @ ..0x80, rest @ ..] => {
                (u16::from(*low & 0x7f) | u16::from(*high) << 7, rest)
            }
            _ => return None,
        };
        self.rest = rest;
        Some(value)
    }

    #[inline]
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8], WireError> {
        let (head, rest) = self
            .rest
            .split_at_checked(n)
            .ok_or_else(|| self.truncated(n))?;
        self.rest = rest;
        Ok(head)
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (head, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or_else(|| self.truncated(N))?;
        self.rest = rest;
        Ok(*head)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8, WireError> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    pub(crate) fn i8(&mut self) -> Result<i8, WireError> {
        self.array().map(i8::from_be_bytes)
    }

    #[inline]
    pub(crate) fn i16(&mut self) -> Result<i16, WireError> {
        self.array().map(i16::from_be_bytes)
    }

    #[inline]
    pub(crate) fn i32(&mut self) -> Result<i32, WireError> {
        self.array().map(i32::from_be_bytes)
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_be_bytes)
    }

    #[inline]
    pub(crate) fn i64(&mut self) -> Result<i64, WireError> {
        self.array().map(i64::from_be_bytes)
    }

    /// A reader of the next `n` bytes, which this one skips.
    #[inline]
    pub(crate) fn sub(&mut self, n: usize) -> Result<Self, WireError> {
        let position = self.position();
        let elements = self.elements;
        Ok(Self::at(self.take(n)?, position).within(elements))
    }

    /// Refuses bytes after the end.
    pub(crate) fn finish(self) -> Result<(), WireError> {
        match self.rest.len() {
            0 => Ok(()),
            count => Err(self.error(WireErrorKind::TrailingBytes { count })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_read_says_where_and_moves_nothing() {
        let mut r = Reader::new(&[0, 1, 0xff]);
        assert_eq!(r.i16(), Ok(1));
        let error = r.i32().unwrap_err();
        assert_eq!(
            error,
            WireError::new(
                2,
                WireErrorKind::Truncated {
                    needed: 4,
                    remaining: 1
                }
            )
        );
        assert_eq!((r.position(), r.i8()), (2, Ok(-1)));
        assert_eq!(r.finish(), Ok(()));
    }

    #[test]
    fn a_part_keeps_its_place_in_the_whole() {
        let mut r = Reader::new(&[9, 1, 2, 3]);
        assert_eq!(r.u8(), Ok(9));
        let mut part = r.sub(2).unwrap();
        assert_eq!(part.u8(), Ok(1));
        assert_eq!(
            part.finish(),
            Err(WireError::new(2, WireErrorKind::TrailingBytes { count: 1 }))
        );
        assert_eq!(r.position(), 3);
    }
}
