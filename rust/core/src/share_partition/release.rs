//! A member is gone: everything it holds becomes available again (`SharePartition.releaseAcquiredRecords`).

use super::SharePartition;
use super::changes::Changes;
use super::writes::WriteKind;
use crate::in_flight::{Holder, InFlightRun, InFlightStore};
use crate::record_state::{RecordState, Trigger};
use crate::time::LockTime;

impl<S: InFlightStore> SharePartition<S> {
    /// Releases every record that `member` holds, when its share session ends or its connection is lost. Records below the
    /// start offset are archived, those at the delivery limit are given up; a record whose acknowledgement is under way is
    /// left to it. Returns the number of records.
    ///
    /// The change is confirmed by its write: until then the records are available to nobody.
    pub fn release(&mut self, member: &str, now: LockTime) -> u64 {
        self.observe(now);
        let Some(index) = self.member(member) else {
            return 0;
        };
        let mut changes = Changes::default();
        let acquired = |run: &InFlightRun| run.state == RecordState::Acquired;
        let (ranges, holder) = (self.store.held_by(index), Holder::Member(index));
        let trigger = Trigger::SessionRelease;
        self.pull_held(&ranges, holder, trigger, acquired, &mut changes);
        let records = changes.records;
        self.queue_write(changes, WriteKind::Confirmed);
        records
    }
}
