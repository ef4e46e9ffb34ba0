//! Writes that leaders make inside their calls: the store answers while the share partition waits.

use share_state_core::ids::SharePartitionKey;
use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::{InlinePersister, WriteState, WriteStateRef};
use share_state_core::share_partition::{AcknowledgeBatch, AcknowledgeError, Settlement};
use share_state_core::time::WallTime;
use share_state_log::StoreError;

use super::World;
use super::store::Store;
use super::types::Led;
use crate::broken::Broken;
use crate::chance::Chance;
use crate::fault::Fault;
use crate::meeting::Meeting;

/// The store, as a share partition is given it for a call.
struct AtOnce<'a> {
    store: &'a mut Store,
    part: usize,
    wall: WallTime,
    /// Times that an answer is lost, in a thousand.
    loses: u16,
    chance: &'a mut Chance,
    hides_failure: bool,
    seen: Seen,
}

/// Outcome of the writes of a call.
#[derive(Default)]
struct Seen {
    confirmed: Vec<WriteState>,
    fenced: u32,
    failed: u32,
    lost: u32,
    /// Reason why the store can do no more.
    error: Option<String>,
}

impl AtOnce<'_> {
    fn failure(&self) -> KafkaCode {
        if self.hides_failure {
            KafkaCode::None
        } else {
            KafkaCode::CoordinatorNotAvailable
        }
    }

    fn write(&mut self, key: &SharePartitionKey, write: &WriteState) -> Result<(), StoreError> {
        if let Some(ledger) = self.store.ledgers.get_mut(self.part) {
            ledger.asked(write);
        }
        let open = self.store.open.as_ref().ok_or(StoreError::Closed)?;
        open.end_write(open.begin_write(key, write, self.wall)?)?;
        if let Some(ledger) = self.store.ledgers.get_mut(self.part) {
            ledger.confirmed(write);
        }
        Ok(())
    }
}

impl InlinePersister for AtOnce<'_> {
    fn write_state(&mut self, key: &SharePartitionKey, state: WriteStateRef<'_>) -> KafkaCode {
        let write = state.to_write_state();
        if self.store.open.is_none() || self.seen.error.is_some() {
            self.seen.failed += 1;
            return self.failure();
        }
        match self.write(key, &write) {
            Ok(()) if self.chance.hit(self.loses) => {
                self.seen.lost += 1;
                self.failure()
            }
            Ok(()) => {
                self.seen.confirmed.push(write);
                KafkaCode::None
            }
            Err(StoreError::Refused(error)) => {
                self.seen.fenced += 1;
                error.kafka_code()
            }
            Err(error) => {
                self.seen.failed += 1;
                self.seen.error = Some(error.to_string());
                self.failure()
            }
        }
    }
}

impl<S: InFlightStore> World<S> {
    /// Has a share partition make its writes in a call.
    fn inline<T>(
        &mut self,
        broker: usize,
        part: usize,
        call: impl FnOnce(&mut Led<S>, &mut AtOnce<'_>) -> T,
    ) -> Option<T> {
        let loses = if self.is_calm {
            0
        } else {
            self.plan.rate(Fault::Lost)
        };
        let wall = self.store.wall(self.now);
        let hides_failure = self.is(Broken::HidesFailure);
        let led = self.brokers.get_mut(broker)?.led.get_mut(part)?.as_mut()?;
        let mut persister = AtOnce {
            store: &mut self.store,
            part,
            wall,
            loses,
            chance: &mut self.chance,
            hides_failure,
            seen: Seen::default(),
        };
        let done = call(led, &mut persister);
        let seen = persister.seen;
        for write in &seen.confirmed {
            led.confirmed.add(&write.state_batches);
        }
        for (times, meeting) in [
            (seen.failed, Meeting::FailsInline),
            (seen.fenced, Meeting::FencedInline),
            (seen.lost, Meeting::InlineThenLost),
        ] {
            for _ in 0..times {
                self.meet(meeting);
            }
        }
        if let Some(error) = seen.error {
            self.store_failed(&error);
        }
        Some(done)
    }

    /// Makes the writes that wait.
    pub(super) fn settle_inline(&mut self, broker: usize, part: usize) {
        let settled = self.inline(broker, part, |led, store| led.part.settle(store));
        if settled.is_some_and(|settled| settled.fences) {
            self.drop_led(broker, part);
        }
    }

    /// Acknowledges, and makes the writes of it. `None` where nobody leads.
    pub(super) fn acknowledge_inline(
        &mut self,
        (broker, part): (usize, usize),
        member: &str,
        batches: &[AcknowledgeBatch<'_>],
    ) -> Option<Result<Settlement, AcknowledgeError>> {
        let now = self.brokers[broker].now(self.now);
        let done = self.inline(broker, part, |led, store| {
            led.part.acknowledge_and_settle(member, batches, now, store)
        });
        if let Some(Ok(settled)) = &done
            && settled.fences
        {
            self.drop_led(broker, part);
        }
        done
    }

    /// Gives back what a member holds, and makes the writes of it.
    pub(super) fn release_inline(&mut self, broker: usize, part: usize, member: &str) -> u64 {
        let now = self.brokers[broker].now(self.now);
        let done = self.inline(broker, part, |led, store| {
            led.part.release_and_settle(member, now, store)
        });
        let (released, settled) = done.unwrap_or_default();
        if settled.fences {
            self.drop_led(broker, part);
        }
        released
    }
}
