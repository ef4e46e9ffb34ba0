//! Bits, the least significant of a byte first.

/// A bitmap that grows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    bytes: Vec<u8>,
    length: usize,
}

impl Bits {
    /// Makes `length` bits, all of them 1.
    #[must_use]
    pub fn ones(length: usize) -> Self {
        let mut bits = Self::default();
        (0..length).for_each(|_| bits.push(true));
        bits
    }

    /// Appends a bit.
    pub fn push(&mut self, bit: bool) {
        let mask = u8::from(bit) << (self.length % 8);
        match self.bytes.last_mut() {
            Some(last) if !self.length.is_multiple_of(8) => *last |= mask,
            _ => self.bytes.push(mask),
        }
        self.length += 1;
    }

    /// The bytes; bits after the last are zero.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
