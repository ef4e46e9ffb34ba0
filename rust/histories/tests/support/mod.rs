//! A share partition in virtual time, with clients whose requests and answers take their time. Its server is written for these
//! tests alone and may be given a fault.

mod server;
mod world;

pub use server::Fault;
pub use world::{Story, World};

/// Numbers that follow from a seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Chance(pub u64);

impl Chance {
    /// The next number below `bound`.
    pub fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as i64
    }

    /// A number from `from` to `to`.
    pub fn within(&mut self, from: i64, to: i64) -> i64 {
        from + self.below(to - from + 1)
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: i64) -> bool {
        self.below(times) == 0
    }
}
