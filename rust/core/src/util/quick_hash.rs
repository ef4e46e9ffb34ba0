//! A fast hash for short keys: names of members, names of share partitions.
//!
//! The standard library's hash withstands whoever knows the keys and sees the answers; it costs as much as all the rest of
//! an acknowledgement. This one multiplies and folds words of eight bytes with a secret drawn once a table. Who does not
//! know the secret cannot choose names that collide, and nothing here tells it.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Makes hashers with one secret.
#[derive(Clone, Debug)]
pub struct QuickHash {
    secret: [u64; 2],
}

impl Default for QuickHash {
    fn default() -> Self {
        let source = RandomState::new();
        Self {
            secret: [source.hash_one(0), source.hash_one(1)],
        }
    }
}

impl BuildHasher for QuickHash {
    type Hasher = QuickHasher;

    fn build_hasher(&self) -> QuickHasher {
        let [state, key] = self.secret;
        QuickHasher { state, key }
    }
}

/// The hash of what was written so far.
#[derive(Clone, Debug)]
pub struct QuickHasher {
    state: u64,
    key: u64,
}

/// Odd, and without a pattern (the golden ratio).
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// Both halves of the product, laid over each other: every bit of the result depends on every bit of `a` and of `b`.
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

impl Hasher for QuickHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        // The length of the rest, at most seven, goes with it, so that no two inputs are the same words.
        let mut last = [0, 0, 0, 0, 0, 0, 0, rest.len() as u8];
        last[..rest.len()].copy_from_slice(rest);
        self.write_u64(u64::from_le_bytes(last));
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.state = fold(self.state ^ value, self.key ^ MIX);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        fold(self.state, self.key ^ MIX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_hash_alike_and_lengths_count() {
        let hash = QuickHash::default();
        assert_eq!(hash.hash_one("orders"), hash.hash_one("orders"));
        let mut seen = std::collections::HashSet::new();
        for length in 0..64 {
            assert!(seen.insert(hash.hash_one(vec![0_u8; length].as_slice())));
        }
        assert_ne!(QuickHash::default().hash_one(7), hash.hash_one(7));
    }

    #[test]
    fn keys_that_differ_in_one_bit_spread_over_a_table() {
        let hash = QuickHash::default();
        let mut slots = [0_u32; 256];
        for i in 0..25_600_u64 {
            slots[(hash.hash_one(i << 40) & 0xff) as usize] += 1;
        }
        let fullest = slots.into_iter().max();
        assert!(
            fullest.is_some_and(|n| n < 200),
            "{fullest:?} of 100 a slot"
        );
    }
}
