//! Release with a persister that answers at once (Kafka's `SharePartition.releaseAcquiredRecords` with an inline `Persister`).
//!
//! In the usual case the records are released before the write is made, and nobody can see it before the answer is there; a
//! refusal undoes it. So nothing is ever pending, and each record is met once instead of twice. For all else this is
//! [`SharePartition::release`] and [`SharePartition::settle`].

use super::SharePartition;
use super::changes::{Changes, count_settled, settled};
use super::settle::Settlement;
use crate::in_flight::{Change, HeldChange, InFlightRun, InFlightStore, MemberIndex};
use crate::inline_persister::InlinePersister;
use crate::kafka_code::KafkaCode;
use crate::offset::OffsetRange;
use crate::persister::{MAX_STATE_BATCHES_PER_WRITE, WriteStateRef};
use crate::record_state::{Circumstance, RecordState, Trigger, decide};
use crate::time::LockTime;

/// What a member held, released and written.
#[derive(Default)]
struct Released {
    delivery_limit: i16,
    changes: Changes,
    /// A record would not become available but be given up: that is not the usual case.
    is_unusual: bool,
}

impl HeldChange for Released {
    fn decide(&mut self, run: &InFlightRun) -> Option<Change> {
        if run.state != RecordState::Acquired {
            return None;
        }
        let circumstance = Circumstance {
            attempts_over: run.delivery_count >= self.delivery_limit,
            ..Circumstance::default()
        };
        let trigger = Trigger::SessionRelease;
        let row = decide(run.state, run.phase, trigger, circumstance)?;
        if row.to != RecordState::Available {
            self.is_unusual = true;
            return None;
        }
        Some(settled(run, row.to))
    }

    fn note(&mut self, run: &InFlightRun, change: Change, ranges: &[OffsetRange]) {
        self.changes
            .add_all(ranges, change.state, run.delivery_count);
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// What [`SharePartition::release`] and then [`SharePartition::settle`] do, in one call and at less cost. Returns the number
    /// of records, and what came of the write.
    pub fn release_and_settle(
        &mut self,
        member: &str,
        now: LockTime,
        persister: &mut impl InlinePersister,
    ) -> (u64, Settlement) {
        self.observe(now);
        if let Some(member) = self.member(member)
            && let Some(done) = self.write_released(member, persister)
        {
            return done;
        }
        (self.release(member, now), self.settle(persister))
    }

    /// Releases what `member` holds and writes it. `None` when it holds nothing or this is not the usual case, and then nothing has
    /// changed.
    fn write_released(
        &mut self,
        member: MemberIndex,
        persister: &mut impl InlinePersister,
    ) -> Option<(u64, Settlement)> {
        let activity = self.activity.get_mut()?;
        if activity.writes.under_way() > 0 {
            return None;
        }
        let ranges = self.store.held_by(member);
        if ranges.first()?.first < self.start_offset {
            return None;
        }
        let mut answer = None;
        let mut released = Released {
            delivery_limit: self.config.delivery_count_limit,
            changes: Changes::with_room(ranges.len()),
            ..Released::default()
        };
        self.store
            .update_held_if(&ranges, member, &mut released, |released| {
                let batches = released.changes.batches.as_slice();
                let fit = 1..=MAX_STATE_BATCHES_PER_WRITE;
                if released.is_unusual || !fit.contains(&batches.len()) {
                    return false;
                }
                let complete = i32::try_from(self.delivery_complete_count);
                let state = WriteStateRef {
                    state_epoch: self.state_epoch,
                    leader_epoch: self.leader_epoch,
                    start_offset: self.start_offset,
                    delivery_complete_count: complete.unwrap_or(i32::MAX),
                    state_batches: batches,
                };
                let code = persister.write_state(&self.key, state);
                answer = Some(code);
                code == KafkaCode::None
            });
        let answer = answer?;
        let Changes {
            batches, records, ..
        } = released.changes;
        activity.writes.pass_by();
        activity
            .tally
            .write_batches(batches.as_slice().len() as u64);
        if answer == KafkaCode::None {
            // What was unsettled still is, so the front of the window has not moved by this.
            count_settled(&mut activity.tally, RecordState::Available, records);
            self.advance_start_offset();
        } else {
            activity.tally.rest.make().writes_refused += 1;
        }
        self.unblock();
        Some((records, self.settled_by(answer)))
    }
}
