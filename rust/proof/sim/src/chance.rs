//! Numbers that follow from a seed (SplitMix64).

/// See the module.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Begins with a seed; `stream` tells apart what has the same seed.
    #[must_use]
    pub const fn new(seed: u64, stream: u64) -> Self {
        Self(seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93))
    }

    /// The next number.
    pub const fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `from` to `to`.
    pub fn within(&mut self, from: i64, to: i64) -> i64 {
        let span = to.wrapping_sub(from).max(0) as u64;
        from + (self.any() % (span + 1)) as i64
    }

    /// A place in a list of so many.
    pub fn below(&mut self, count: usize) -> usize {
        (self.any() % count.max(1) as u64) as usize
    }

    /// True so many times in a thousand.
    pub fn hit(&mut self, per_mille: u16) -> bool {
        self.any() % 1000 < u64::from(per_mille)
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.any().is_multiple_of(times.max(1))
    }

    /// Draws one of the choices; `otherwise` if there are none.
    pub fn of<T: Copy>(&mut self, choices: &[T], otherwise: T) -> T {
        choices
            .get(self.below(choices.len()))
            .copied()
            .unwrap_or(otherwise)
    }
}
