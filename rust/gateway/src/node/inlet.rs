//! Bytes of a connection on their way to frames, cut wherever the network likes.

use core::fmt;

/// Bytes of the length before a frame, which does not count itself.
const LENGTH: usize = size_of::<i32>();
/// The least frame: an API key and a version.
const SHORTEST: usize = 4;
/// Room that a connection keeps while little waits in it.
const SPARE: usize = 16 << 10;
/// Bytes that are moved for the sake of less room.
const LITTLE: usize = SPARE / 4;

/// A length that cannot be that of a request: the other side is no client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameError {
    /// The length that was announced.
    pub announced: i32,
    /// The longest that is taken.
    pub longest: usize,
    /// Mark of bytes that begin like a record of TLS.
    pub looks_like_tls: bool,
}

/// Bytes that have arrived and were not taken.
///
/// Memory follows what has arrived, not what a length announces. Invariant: `at <= arrived.len()`, and the bytes before `at`
/// were taken.
#[derive(Debug, Default)]
pub(crate) struct Inlet {
    arrived: Vec<u8>,
    at: usize,
}

impl Inlet {
    /// Adds bytes that have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.at == self.arrived.len() {
            self.arrived.clear();
            self.at = 0;
        } else if self.at > self.arrived.len() / 2 {
            // Fewer bytes move than were taken since the last time, so each moves at most once on average.
            self.arrived.drain(..self.at);
            self.at = 0;
        }
        self.arrived.extend_from_slice(bytes);
    }

    /// Takes the next frame, without its length; `None` while it has not arrived as a whole. `longest` gives the bytes that a
    /// frame with this API key may have, or any frame as long as the key has not arrived.
    ///
    /// # Errors
    /// The length is out of bounds. Nothing was taken; the next call says the same.
    pub fn next(
        &mut self,
        longest: impl Fn(Option<i16>) -> usize,
    ) -> Result<Option<&[u8]>, FrameError> {
        let Some((length, rest)) = self.split() else {
            return Ok(None);
        };
        let key = rest.first_chunk().map(|key| i16::from_be_bytes(*key));
        let longest = longest(key);
        let size = match usize::try_from(length) {
            Ok(size) if (SHORTEST..=longest).contains(&size) => size,
            _ => {
                let head = length.to_be_bytes();
                return Err(FrameError {
                    announced: length,
                    longest,
                    looks_like_tls: matches!(head, [0x15 | 0x16, 3, ..]),
                });
            }
        };
        if rest.len() < size {
            return Ok(None);
        }
        let start = self.at + LENGTH;
        self.at = start + size;
        Ok(self.arrived.get(start..self.at))
    }

    /// Gives back the memory of a long request that was taken. What waits after it moves, once.
    pub fn shrink(&mut self) {
        if self.arrived.capacity() > SPARE && self.waiting() <= LITTLE {
            self.arrived.drain(..self.at);
            self.arrived.shrink_to(SPARE);
            self.at = 0;
        }
    }

    /// Panics when memory is kept that nothing waits in. For tests.
    pub fn check(&self) {
        assert!(self.waiting() > LITTLE || self.arrived.capacity() <= SPARE);
    }

    /// Bytes that wait.
    pub const fn waiting(&self) -> usize {
        self.arrived.len() - self.at
    }

    fn split(&self) -> Option<(i32, &[u8])> {
        let (head, rest) = self.arrived.get(self.at..)?.split_first_chunk::<LENGTH>()?;
        Some((i32::from_be_bytes(*head), rest))
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            announced, longest, ..
        } = self;
        write!(
            f,
            "a frame announces {announced} bytes, not {SHORTEST} to {longest}"
        )?;
        if self.looks_like_tls {
            f.write_str("; it begins like TLS")?;
        }
        Ok(())
    }
}

impl core::error::Error for FrameError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(payload: &[u8]) -> Vec<u8> {
        [&(payload.len() as u32).to_be_bytes()[..], payload].concat()
    }

    #[test]
    fn frames_come_out_as_they_went_in_however_they_are_cut() {
        let payloads: Vec<Vec<u8>> = (4..40).map(|size| vec![size as u8; size]).collect();
        let bytes: Vec<u8> = payloads
            .iter()
            .flat_map(|payload| framed(payload))
            .collect();
        for size in [1, 2, 3, 5, 7, 64, bytes.len()] {
            let mut inlet = Inlet::default();
            let mut taken = Vec::new();
            for piece in bytes.chunks(size) {
                inlet.push(piece);
                while let Some(frame) = inlet.next(|_| 100).unwrap() {
                    taken.push(frame.to_vec());
                }
            }
            assert_eq!(taken, payloads, "pieces of {size}");
            assert_eq!(inlet.waiting(), 0);
        }
    }

    #[test]
    fn memory_follows_what_has_arrived_and_not_what_is_announced() {
        let mut inlet = Inlet::default();
        inlet.push(&(8_i32 << 20).to_be_bytes());
        inlet.push(&[0, 78]);
        assert_eq!(inlet.next(|_| 8 << 20), Ok(None));
        assert!(inlet.arrived.capacity() <= 64);
        // What a long request took is given back, though the next one has begun.
        inlet.push(&vec![7; (8 << 20) - 2]);
        inlet.push(&[0; LITTLE]);
        assert!(inlet.next(|_| 8 << 20).unwrap().is_some());
        inlet.shrink();
        inlet.check();
        assert_eq!(&inlet.arrived[inlet.at..], [0; LITTLE]);
    }

    #[test]
    fn pipelined_frames_that_are_taken_make_room_for_others() {
        let mut inlet = Inlet::default();
        let frame = framed(&[0; 96]);
        for _ in 0..10_000 {
            // There are always two frames that wait, so the buffer is never empty.
            inlet.push(&frame);
            if inlet.waiting() > 250 {
                assert!(inlet.next(|_| 100).unwrap().is_some());
            }
        }
        assert!(inlet.arrived.capacity() < 2_000);
    }

    #[test]
    fn the_limit_is_that_of_the_key_once_that_has_come() {
        let longest = |key: Option<i16>| match key {
            None => 100,
            Some(78) => 50,
            Some(_) => 10,
        };
        let mut inlet = Inlet::default();
        inlet.push(&50_i32.to_be_bytes());
        assert_eq!(inlet.next(longest), Ok(None));
        inlet.push(&[0]);
        assert_eq!(inlet.next(longest), Ok(None));
        inlet.push(&[3]);
        let refused = inlet.next(longest).unwrap_err();
        assert_eq!((refused.announced, refused.longest), (50, 10));
        assert_eq!(inlet.next(longest), Err(refused));
    }
}
