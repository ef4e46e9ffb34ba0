//! The window of in-flight records: what to fetch next, whether there is room, and the advance of the start offset.

use crate::offset::{OffsetRange, after_saturating};
use crate::partition::in_flight::{Front, InFlightQuestions, InFlightStore};
use crate::partition::share_partition::{AcquireRequest, SharePartition, Status};

/// The part of the window that a new leader must read again (`SharePartition.persisterReadResultGapWindow`,
/// KAFKA-18494): records there were handed out by the leader before and never written, so the persister knows nothing of
/// them. It counts only while `end_offset` is the end of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GapWindow {
    /// Last offset of the window when the state was read.
    pub end_offset: i64,
    /// First offset that may lie in such a gap.
    pub gap_start_offset: i64,
}

impl<S: InFlightStore> SharePartition<S> {
    /// The gap window while it counts.
    #[must_use]
    pub fn gap_window(&self) -> Option<GapWindow> {
        let gap_window = self.occasional()?.gap_window;
        gap_window.filter(|gap| gap.end_offset == self.end_offset)
    }

    /// The offset that the leader's next fetch begins at: the first record that can be delivered again, the first gap to
    /// read again, or the end of the window. Never below the start offset (deliberate difference K2).
    #[must_use]
    pub fn next_fetch_offset(&self) -> i64 {
        let Some(cached) = self.cached() else {
            return self.end_offset;
        };
        let gap = self
            .gap_window()
            .map(|gap| {
                self.store
                    .first_hole(gap.gap_start_offset.max(self.start_offset))
            })
            .filter(|hole| *hole <= cached.last);
        let available = self.store.first_available(self.start_offset);
        match (gap, available) {
            (Some(a), Some(b)) => a.min(b),
            (Some(offset), None) | (None, Some(offset)) => offset,
            (None, None) => after_saturating(self.end_offset),
        }
    }

    /// Returns `true` if a fetch may acquire anything: always for what is in the window, otherwise while there is room
    /// after it (`SharePartition.canAcquireRecords`). Never of a share partition that is not active.
    #[must_use]
    pub fn can_acquire(&self) -> bool {
        self.status == Status::Active
            && (self.next_fetch_offset() != after_saturating(self.end_offset)
                || self.window_len() < u64::from(self.config.partition_max_record_locks))
    }

    /// Tells if nothing before `end` is left to deliver or to settle: no such record is held, available or unread, and no write is
    /// under way. The start offset tells less: it stays where it is when records before done ones are archived in memory
    /// alone (compaction, aborted transactions). Never of a share partition that is not active.
    ///
    /// If the log ends in a hole, `end` is the offset at which a read of it finds nothing more.
    #[must_use]
    pub fn settled_to(&self, end: i64) -> bool {
        let outstanding = || self.store.first_outstanding(self.start_offset);
        self.status == Status::Active
            && self.writes_under_way() == 0
            && self.next_fetch_offset() >= end
            && outstanding().is_none_or(|offset| offset >= end)
    }

    /// As [`Self::settled_to`] the end of the window, everything that was read and acquired.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let end = match self.cached() {
            None => self.end_offset,
            Some(_) => after_saturating(self.end_offset),
        };
        self.settled_to(end)
    }

    /// Length of the window in offsets. It is a span: done records and holes inside count too.
    #[must_use]
    pub fn window_len(&self) -> u64 {
        if self.store.is_empty() {
            return 0;
        }
        OffsetRange::new(self.start_offset, self.end_offset).map_or(0, OffsetRange::len)
    }

    /// The stretch of in-flight batches, unless the start offset has passed it.
    pub(in crate::partition::share_partition) fn cached(&self) -> Option<OffsetRange> {
        self.store
            .bounds()
            .filter(|cached| self.start_offset <= cached.last)
    }

    /// Records the end of an acquire at `last`: gaps before it have been read (`maybeUpdatePersisterGapWindowStartOffset`).
    pub(in crate::partition::share_partition) fn read_gap_through(&mut self, last: i64) {
        let gap_window = self.gap_window();
        if let Some(occasional) = self.occasional_mut() {
            let gap_start_offset = after_saturating(last);
            match gap_window.filter(|gap| gap_start_offset <= gap.end_offset) {
                Some(gap) => {
                    occasional.gap_window = Some(GapWindow {
                        gap_start_offset,
                        ..gap
                    });
                }
                None => self.close_gap_window(),
            }
        }
    }

    fn close_gap_window(&mut self) {
        if let Some(occasional) = self.occasional_mut() {
            occasional.gap_window = None;
            self.store.merge_done_batches(true);
        }
    }

    /// Takes note of a fetch that gave nothing. Every hole that it read would have been acquired, so one that lies between the
    /// offset where the fetch began and the last one that it read holds no record: the gap goes on after what was read
    /// (deliberate difference S7).
    pub(in crate::partition::share_partition) fn acquired_nothing(
        &mut self,
        request: &AcquireRequest<'_>,
    ) {
        if let Some((gap, last)) = self.gap_window().zip(request.fetched.last()) {
            let from = gap.gap_start_offset.max(self.start_offset);
            let hole = self.store.first_hole(from);
            if request.fetch_offset <= hole && hole <= last.last_offset {
                self.read_gap_through(last.last_offset);
                self.advance_start_offset();
            }
        }
        self.unblock();
    }

    /// Moves the start offset past everything done at the front of the window, and drops the batches before it
    /// (`SharePartition.maybeUpdateCachedStateAndOffsets`).
    ///
    /// What stops it: a record that is not terminal, also one below the start offset; a record whose write is under way; and
    /// while the gap window counts, the first batch that reaches it.
    pub(in crate::partition::share_partition) fn advance_start_offset(&mut self) {
        if self.knows_front() {
            return;
        }
        let gap = self.gap_window().map(|gap| gap.gap_start_offset);
        let gap_batch = gap.and_then(|gap_start| self.store.batch_reaching(gap_start));
        let limit = gap_batch.map(|batch| batch.first);
        let (stop, passed) = match self.store.pass_done(self.start_offset, limit) {
            Front::Empty => return,
            Front::Done(last) => {
                // The window is empty, and begins after its last offset. The start offset may be ahead already, when the
                // log start has moved past the window; it never goes back (deliberate difference K1).
                self.start_offset = self.start_offset.max(after_saturating(last));
                self.end_offset = self.start_offset;
                self.delivery_complete_count = 0;
                return;
            }
            Front::Standing(stop) => (stop, None),
            Front::Passed(stop, records) => (stop, Some(records)),
        };
        if gap.is_none()
            && let Some(activity) = self.activity.get_mut()
        {
            activity.front = Some(stop).into();
        }
        let Some(records) = passed else { return };
        let target = gap.map_or(stop, |gap_start| stop.min(gap_start));
        debug_assert!(
            records <= self.delivery_complete_count,
            "{records} terminal records are passed, {} were counted",
            self.delivery_complete_count
        );
        debug_assert!(
            stop <= self.end_offset,
            "the record at {stop} is in the window"
        );
        self.delivery_complete_count -= records;
        self.start_offset = self.start_offset.max(target);
    }

    /// Empties a full window in which everything is done and no write of the share partition is under way.
    ///
    /// Records that are archived in memory alone (log start, compaction, a refused write whose locks ran out) bring no answer
    /// of the persister, so in a full window nothing would ever happen again (deliberate difference S6). A gap window goes
    /// with it: no gap is left to read, or something could be fetched.
    #[inline]
    pub(in crate::partition::share_partition) fn unblock(&mut self) {
        // In the order of what the questions cost: nearly always a record is known to be out, or there is room.
        if !self.knows_front() && !self.store.is_empty() {
            self.unblock_unless_out();
        }
    }

    fn unblock_unless_out(&mut self) {
        let Some(cached) = self.cached() else { return };
        let locks = u64::from(self.config.partition_max_record_locks);
        if self.window_len() < locks || self.writes_under_way() > 0 {
            return;
        }
        let all_done = self.store.first_outstanding(cached.first).is_none();
        if all_done && !self.can_acquire() {
            self.close_gap_window();
            self.advance_start_offset();
        }
    }
}
