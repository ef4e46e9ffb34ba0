//! Every invariant of a share partition, checked and named.

use crate::offset::OffsetRange;
use crate::partition::in_flight::InFlightStore;
use crate::partition::record_state::{Phase, RecordState};
use crate::partition::share_partition::SharePartition;

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
            // Who holds a lock is the store's to check.
            if run.state == RecordState::Acquired {
                if run.phase != Phase::Stable {
                    return Err(format!("nothing is written as acquired: {run:?}"));
                }
                if run.delivery_count < 1 {
                    return Err(format!("acquired and never delivered: {run:?}"));
                }
            }
            let available = run.state == RecordState::Available && run.phase == Phase::Stable;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::StateBatch;
    use crate::ids::{SharePartitionKey, TopicId};
    use crate::partition::in_flight::{
        Change, Holder, InFlightRun, IntervalStore, LockChange, MemberIndex, NewLock, TwinStore,
    };
    use crate::persister::ReadStateResult;
    use crate::settings::limits::ShareGroupConfig;
    use crate::time::LockTime;

    const HELD: OffsetRange = OffsetRange { first: 5, last: 9 };

    /// Records 5 to 9, available after one delivery.
    fn sound<S: InFlightStore>() -> SharePartition<S> {
        let key = SharePartitionKey::new("group", TopicId([7; 16]), 0);
        let mut sp = SharePartition::new(key, 0, ShareGroupConfig::default()).unwrap();
        sp.initialize(ReadStateResult {
            state_epoch: 0,
            start_offset: 5,
            state_batches: vec![StateBatch {
                first_offset: 5,
                last_offset: 9,
                delivery_state: RecordState::Available.id(),
                delivery_count: 1,
            }],
        })
        .unwrap();
        sp.check().unwrap();
        sp
    }

    fn hold<S: InFlightStore>(sp: &mut SharePartition<S>, delivery_count: i16) {
        let lock = NewLock {
            member: MemberIndex(0),
            now: LockTime(0),
            duration_ms: 1,
        };
        sp.store.hold(HELD, lock, |_| Some(delivery_count));
    }

    fn set<S: InFlightStore>(sp: &mut SharePartition<S>, state: RecordState, phase: Phase) {
        let mut change = |_: &InFlightRun| {
            let lock = LockChange::Keep;
            Some(Change { state, phase, lock })
        };
        let held = core::iter::once(HELD);
        sp.store.update(held, Holder::Anybody, &mut change);
    }

    fn breaks<S: InFlightStore>(name: &str, break_it: impl FnOnce(&mut SharePartition<S>)) {
        let mut sp = sound::<S>();
        break_it(&mut sp);
        let broken = sp.check().expect_err(name);
        assert!(broken.contains(name), "{broken}");
    }

    fn each_invariant_is_checked<S: InFlightStore>() {
        let mut sp = sound::<S>();
        hold(&mut sp, 2);
        sp.check().unwrap();
        breaks::<S>("never delivered", |sp| hold(sp, 0));
        breaks::<S>("written as acquired", |sp| {
            hold(sp, 2);
            set(sp, RecordState::Acquired, Phase::Pending);
        });
        breaks::<S>("available below the start offset", |sp| sp.start_offset = 7);
        breaks::<S>("delivery_complete_count", |sp| {
            sp.delivery_complete_count = 1;
        });
        breaks::<S>("reaches past the end offset", |sp| sp.end_offset = 8);
        // What is acquired below the start offset is its member's.
        hold(&mut sp, 2);
        sp.start_offset = 7;
        sp.check().unwrap();
    }

    #[test]
    fn each_invariant_is_checked_on_both_stores() {
        each_invariant_is_checked::<TwinStore>();
        each_invariant_is_checked::<IntervalStore>();
    }
}
