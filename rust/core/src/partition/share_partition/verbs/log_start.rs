//! The log start offset moves: retention or DeleteRecords has removed records (`SharePartition.updateCacheAndOffsets`).
//!
//! Steps:
//! 1. the start offset moves, and the records that it passes no longer count as complete;
//! 2. gaps before it need not be read again;
//! 3. available records below it are archived, in memory only. Acquired ones stay with their member;
//! 4. where all that is in flight lies below it and is done, the window is empty.

use crate::offset::{OffsetRange, before};
use crate::partition::in_flight::{InFlightQuestions, InFlightStore};
use crate::partition::record_state::Trigger;
use crate::partition::share_partition::SharePartition;

impl<S: InFlightStore> SharePartition<S> {
    /// Takes note of the log start offset. Available records before it are archived, in memory; acquired ones stay with their
    /// member until it releases them or their lock runs out. The new start offset is persisted with the next write.
    ///
    /// Returns whether the start offset moved: an offset at or before it is ignored.
    pub fn move_log_start_offset(&mut self, log_start_offset: i64) -> bool {
        if log_start_offset <= self.start_offset {
            return false;
        }
        let passed =
            before(log_start_offset).and_then(|end| OffsetRange::new(self.start_offset, end));
        if self.store.is_empty() {
            self.start_offset = log_start_offset;
            self.end_offset = log_start_offset;
            self.delivery_complete_count = 0;
            return true;
        }
        if let Some(passed) = passed {
            self.delivery_complete_count -= self.terminal_in(passed);
        }
        self.start_offset = log_start_offset;
        self.end_offset = self.end_offset.max(log_start_offset);
        if let Some(gap) = self.occasional_mut().and_then(|r| r.gap_window.as_mut()) {
            // Gaps before the log start can never be read (deliberate difference K2).
            gap.gap_start_offset = gap.gap_start_offset.max(log_start_offset);
        }
        if let Some(passed) = passed {
            let changes = self.pull_at_once(passed, Trigger::LogStartMove);
            self.activity.make().tally.rest.make().log_start_archived += changes.records;
        }
        if self.cached().is_none() {
            // Done batches below the start offset are over (deliberate difference L1).
            self.advance_start_offset();
        }
        self.unblock();
        true
    }

    fn terminal_in(&self, range: OffsetRange) -> u64 {
        let mut terminal = 0;
        let mut rest = Some(range);
        while let Some(run) = rest.and_then(|rest| self.store.run_in(rest)) {
            if run.state.is_terminal() {
                terminal += run.range.len();
            }
            rest = range.after(run.range.last);
        }
        terminal
    }
}
