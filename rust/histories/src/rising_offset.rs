//! An offset that only rises: the start offset that answers show, or the log start.

/// The offsets that were greater than all before, in order, and what is known of the first sight of each.
#[derive(Debug)]
pub struct RisingOffset<T> {
    seen: Vec<(i64, T)>,
}

impl<T> Default for RisingOffset<T> {
    fn default() -> Self {
        Self { seen: Vec::new() }
    }
}

impl<T: Copy> RisingOffset<T> {
    /// Takes in an offset; sights come in the order of their times.
    pub fn see(&mut self, offset: i64, sight: T) {
        if self
            .seen
            .last()
            .is_none_or(|&(highest, _)| offset > highest)
        {
            self.seen.push((offset, sight));
        }
    }

    /// The first sight of all.
    pub fn first(&self) -> Option<(i64, T)> {
        self.seen.first().copied()
    }

    /// The first sight of an offset above this one: the record has been passed.
    pub fn passed(&self, offset: i64) -> Option<T> {
        let at = self.seen.partition_point(|&(seen, _)| seen <= offset);
        self.seen.get(at).map(|&(_, sight)| sight)
    }

    /// The offsets.
    pub fn offsets(&self) -> impl Iterator<Item = i64> {
        self.seen.iter().map(|&(offset, _)| offset)
    }
}

impl<T: Copy> FromIterator<(i64, T)> for RisingOffset<T> {
    fn from_iter<I: IntoIterator<Item = (i64, T)>>(sights: I) -> Self {
        let mut rises = Self::default();
        for (offset, sight) in sights {
            rises.see(offset, sight);
        }
        rises
    }
}
