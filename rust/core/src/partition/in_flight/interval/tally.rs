//! Numbers of entries of a leaf, by class.

use super::cell::Class;

/// Number of entries of a leaf in each class: four counters of 16 bits in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Tally(u64);

/// Words with a one in the counter of each class of a set, by the set.
static LANES: [u64; 16] = lanes();

const fn lanes() -> [u64; 16] {
    let mut lanes = [0; 16];
    let mut set = 0;
    while set < 16 {
        let bits = set as u64;
        lanes[set] = (bits & 1) | (bits & 2) << 15 | (bits & 4) << 30 | (bits & 8) << 45;
        set += 1;
    }
    lanes
}

impl Tally {
    pub fn add(&mut self, classes: u8, entries: u64) {
        self.0 += LANES[usize::from(classes & 0xF)] * entries;
    }

    pub fn take(&mut self, classes: u8, entries: u64) {
        debug_assert!(
            Class::ALL
                .into_iter()
                .all(|class| classes & class.bit() == 0
                    || entries <= self.0 >> (16 * class as u32) & 0xFFFF),
            "{entries} entries of {classes:#b} are more than {self:?}"
        );
        self.0 -= LANES[usize::from(classes & 0xF)] * entries;
    }

    pub const fn has(self, class: Class) -> bool {
        self.0 >> (16 * class as u32) & 0xFFFF != 0
    }

    /// Returns `true` if the same classes occur in both.
    #[inline]
    pub const fn occurs_as(self, other: Self) -> bool {
        self.occurring() == other.occurring()
    }

    /// The highest bit of each counter that is not 0.
    const fn occurring(self) -> u64 {
        const HIGH: u64 = 0x8000_8000_8000_8000;
        (((self.0 & !HIGH) + !HIGH) | self.0) & HIGH
    }

    /// The set of classes that occur.
    pub fn classes(self) -> u8 {
        Class::ALL
            .into_iter()
            .filter(|class| self.has(*class))
            .map(Class::bit)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_counts_each_class_by_itself() {
        let mut tally = Tally::default();
        tally.add(0b1111, 512);
        tally.take(0b0101, 511);
        tally.take(0b0100, 1);
        assert_eq!(tally.classes(), 0b1011);
        tally.take(0b1010, 512);
        assert_eq!(tally.classes(), 0b0001);
    }
}
