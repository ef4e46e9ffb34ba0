//! Loading ahead what a change of few records looks at first, see [`InFlightStore::preload`](crate::in_flight::InFlightStore::preload).

use super::dense::Dense;
use super::directory::{Leaves, List};
use super::leaf::{Body, Leaf};
use super::runs::Edge;

/// Edges of a cache line.
const LINE: usize = 64 / size_of::<Edge>();

impl Dense {
    fn preload(&self) -> u64 {
        let ends = self.codes.first().zip(self.codes.last());
        ends.map_or(0, |(first, last)| u64::from(first.lock() ^ last.lock()))
    }
}

impl Leaf {
    fn preload(&self) -> u64 {
        match &self.body {
            Body::Runs(edges) => edges
                .iter()
                .step_by(LINE)
                .fold(0, |seen, edge| seen ^ edge.first as u64),
            Body::Dense(dense) => dense.preload(),
        }
    }
}

impl<const N: usize> Leaves<N> {
    /// The runs of a leaf that stands alone; of many leaves the one last changed.
    #[inline]
    pub fn preload(&self) -> u64 {
        match &self.list {
            List::None(_) => 0,
            List::One(leaf) => leaf.preload(),
            List::Many(many) => self.get(many.hint).map_or(0, Leaf::preload),
        }
    }
}
