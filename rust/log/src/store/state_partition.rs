//! State partition: the journal of a share coordinator.

use share_state_core::coordinator::{CoordinatorError, Decision, ShareCoordinator};
use share_state_core::records::ShareRecord;
use share_state_core::time::WallTime;
use share_state_wire::WireError;
use share_state_wire::state_record::{append_key, append_value};

use crate::end_note::LogEnd;
use crate::error::StoreError;
use crate::journal::{Durability, Journal, Machine, Shared};

impl Machine for ShareCoordinator {
    type Record = ShareRecord;

    fn append_key(record: &ShareRecord, out: &mut Vec<u8>) -> Result<(), WireError> {
        append_key(out, record)
    }

    fn append_value(record: &ShareRecord, out: &mut Vec<u8>) -> Result<bool, WireError> {
        append_value(out, &record.value)
    }

    fn replay(&mut self, offset: i64, record: &ShareRecord) {
        Self::replay(self, offset, record);
    }
}

/// See the module.
pub(super) type StatePartition = Journal<ShareCoordinator>;

impl StatePartition {
    /// Decides, appends, replays, waits, answers. A refusal waits too: it may rest on what is not yet durable.
    pub fn operate<A>(
        &self,
        now: WallTime,
        decide: impl FnOnce(&ShareCoordinator) -> Result<Decision<A>, CoordinatorError>,
    ) -> Result<A, StoreError> {
        let mut shared = self.enter()?;
        let answer = self.decide(&mut shared, now, decide);
        let ticket = shared.ticket();
        self.wait(shared, ticket, Durability::ByPolicy)?;
        answer
    }

    /// Decides and appends, and does not wait: the answer may be given once [`Self::await_ticket`] has returned for the offset
    /// that comes with it.
    pub fn begin<A>(
        &self,
        now: WallTime,
        decide: impl FnOnce(&ShareCoordinator) -> Result<Decision<A>, CoordinatorError>,
    ) -> Result<(Result<A, StoreError>, i64), StoreError> {
        let mut shared = self.enter()?;
        let answer = self.decide(&mut shared, now, decide);
        Ok((answer, shared.ticket()))
    }

    /// Decides one request after the other and appends, so that they share their groups, and does not wait: the answers may
    /// be given once [`Self::await_ticket`] has returned for the offset that comes with them.
    pub fn operate_many<A, D>(
        &self,
        now: WallTime,
        requests: impl Iterator<Item = D>,
    ) -> Result<(Vec<Result<A, StoreError>>, i64), StoreError>
    where
        D: FnOnce(&ShareCoordinator) -> Result<Decision<A>, CoordinatorError>,
    {
        let mut shared = self.enter()?;
        let answers = requests
            .map(|request| self.decide(&mut shared, now, request))
            .collect();
        Ok((answers, shared.ticket()))
    }

    fn decide<A>(
        &self,
        shared: &mut Shared<ShareCoordinator>,
        now: WallTime,
        decide: impl FnOnce(&ShareCoordinator) -> Result<Decision<A>, CoordinatorError>,
    ) -> Result<A, StoreError> {
        let decision = decide(&shared.machine).map_err(StoreError::Refused)?;
        self.take_in(shared, &decision.records, now)?;
        if !decision.records.is_empty() {
            self.tally().write();
        }
        Ok(decision.answer)
    }

    /// Appends records that need not be in one group. Returns how many there were. One that cannot be written keeps none of the
    /// others from the log: its error is the answer, once they are as durable as the sync policy requires.
    pub fn append_each(
        &self,
        now: WallTime,
        decide: impl FnOnce(&ShareCoordinator) -> Vec<ShareRecord>,
    ) -> Result<usize, StoreError> {
        let mut shared = self.enter()?;
        let records = decide(&shared.machine);
        let mut taken = Ok(());
        for record in &records {
            let one = self.take_in(&mut shared, std::slice::from_ref(record), now);
            taken = taken.and(one);
        }
        let ticket = shared.ticket();
        self.wait(shared, ticket, Durability::ByPolicy)?;
        taken.map(|()| records.len())
    }

    /// Returns what `look` sees, once everything it saw is as durable as the sync policy requires.
    pub fn inspect<A>(&self, look: impl FnOnce(&ShareCoordinator) -> A) -> Result<A, StoreError> {
        let shared = self.enter()?;
        let seen = look(&shared.machine);
        let ticket = shared.ticket();
        self.wait(shared, ticket, Durability::ByPolicy)?;
        Ok(seen)
    }

    /// Deletes the whole segments that nobody needs, after `record` has made the new log start durable, and where the log ends.
    /// The snapshots that make them redundant are made durable before. Returns how many segments went.
    pub fn prune(
        &self,
        record: impl FnOnce(i64, LogEnd) -> Result<(), StoreError>,
    ) -> Result<usize, StoreError> {
        let shared = self.enter()?;
        let redundant = shared.machine.last_redundant_offset();
        let ticket = shared.ticket();
        self.wait(shared, ticket, Durability::OnDisk)?;
        let mut log = self.log()?;
        let Some(log_start) = redundant.and_then(|offset| log.prunable(offset)) else {
            return Ok(0);
        };
        record(log_start, self.durable_end(&mut log)?)?;
        let removed = log.remove_below(log_start).map_err(StoreError::Prune)?;
        self.tally().pruned(removed);
        Ok(removed)
    }
}
