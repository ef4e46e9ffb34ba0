//! Every invariant of a share partition, checked and named.

use crate::in_flight::InFlightStore;
use crate::offset::OffsetRange;
use crate::record_state::{Phase, RecordState};
use crate::share_partition::SharePartition;

impl<S: InFlightStore> SharePartition<S> {
    /// Checks the invariants of the store and of the share partition. Costs a walk over the window: for tests and for those
    /// who doubt.
    ///
    /// # Errors
    /// The first invariant that is broken, with the facts.
    pub fn check(&self) -> Result<(), String> {
        self.store.check()?;
        let mut terminal = 0;
        let mut next = self.store.run_in(OffsetRange::ALL);
        while let Some(run) = next {
            let holds = run.lock.is_some();
            match (run.state, run.phase) {
                (RecordState::Acquired, Phase::Settled) if !holds || run.delivery_count < 1 => {
                    return Err(format!("single holder: {run:?}"));
                }
                (RecordState::Acquired, Phase::Pending | Phase::PendingFinal) => {
                    return Err(format!("nothing is written as acquired: {run:?}"));
                }
                (_, Phase::Pending) if !holds => {
                    return Err(format!("a pending record keeps its way back: {run:?}"));
                }
                (RecordState::Acquired, Phase::Settled) | (_, Phase::Pending) => {}
                _ if holds => return Err(format!("a lock without a holder: {run:?}")),
                _ => {}
            }
            let available = run.state == RecordState::Available && run.phase == Phase::Settled;
            if available && run.range.first < self.start_offset {
                return Err(format!(
                    "available below the start offset {}: {run:?}",
                    self.start_offset
                ));
            }
            if run.state.is_terminal() && run.range.last >= self.start_offset {
                terminal += run
                    .range
                    .last
                    .abs_diff(run.range.first.max(self.start_offset))
                    + 1;
            }
            let rest = OffsetRange::ALL.after(run.range.last);
            next = rest.and_then(|rest| self.store.run_in(rest));
        }
        if terminal != self.delivery_complete_count {
            return Err(format!(
                "delivery_complete_count is {}, but {terminal} records from {} on are terminal",
                self.delivery_complete_count, self.start_offset
            ));
        }
        let next_fetch_offset = self.next_fetch_offset();
        if next_fetch_offset < self.start_offset {
            return Err(format!(
                "next fetch offset {next_fetch_offset} is below the start offset {}",
                self.start_offset
            ));
        }
        match self.store.bounds() {
            Some(cached) if cached.last > self.end_offset => Err(format!(
                "{cached} reaches past the end offset {}",
                self.end_offset
            )),
            _ => Ok(()),
        }
    }
}
