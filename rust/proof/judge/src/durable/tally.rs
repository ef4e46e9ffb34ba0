//! Counts of what the durable forms of some sequences did.

use crate::report::Report;

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
    /// Has a report say so.
    pub fn cover(&self, report: &mut Report) {
        let Self {
            reads,
            written,
            fenced,
            folded,
            reopened,
            compared,
        } = *self;
        for (what, times) in [
            ("durable: a store answers the read of a leader", reads),
            ("durable: a write is confirmed", written),
            ("durable: a write of an earlier leader is refused", fenced),
            ("durable: the files are read beside the store", folded),
            ("durable: the store is opened again", reopened),
            ("durable: what it holds is compared", compared),
        ] {
            if times > 0 {
                report.cover_times(what, times);
            }
        }
    }
}
