//! Counts of what the durable forms of some sequences did.

/// Number of times that each came up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Reads of a new leader that the store answered.
    pub reads: usize,
    /// Writes that the store confirmed.
    pub written: usize,
    /// Writes of a leader that has been succeeded, which the store refused.
    pub fenced: usize,
    /// Times that the files were read beside the store.
    pub folded: usize,
    /// Times that the store was closed and opened again.
    pub reopened: usize,
    /// Times that its state was compared with a share partition's.
    pub compared: usize,
}

impl core::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        let Self {
            reads,
            written,
            fenced,
            folded,
            reopened,
            compared,
        } = other;
        self.reads += reads;
        self.written += written;
        self.fenced += fenced;
        self.folded += folded;
        self.reopened += reopened;
        self.compared += compared;
    }
}

impl Tally {
    /// Each as often as it came up, as parts of the coverage.
    pub fn reached(&self) -> Vec<String> {
        let told = [
            ("a store answers the read of a leader", self.reads),
            ("a write is confirmed", self.written),
            ("a write of an earlier leader is refused", self.fenced),
            ("the files are read beside the store", self.folded),
            ("the store is opened again", self.reopened),
            ("what it holds is compared", self.compared),
        ];
        let told = told.into_iter();
        told.flat_map(|(what, times)| std::iter::repeat_n(format!("durable: {what}"), times))
            .collect()
    }
}
