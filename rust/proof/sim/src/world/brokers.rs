//! Leaders: they come and go, and one that was overtaken may not know.

use share_state_core::ids::SharePartitionKey;
use share_state_core::in_flight::InFlightStore;
use share_state_core::limits::{IsolationLevel, ShareGroupConfig};
use share_state_core::share_partition::{SharePartition, Status};
use share_state_core::share_session::ShareSessions;

use super::events::{Ask, Call, Told, What};
use super::types::{Confirmed, Led};
use super::{GROUP, TOPIC, World};
use crate::fault::Fault;
use crate::meeting::Meeting;
use crate::plan::MS;

/// The key of a share partition.
pub fn key(part: usize) -> SharePartitionKey {
    SharePartitionKey::new(GROUP, TOPIC, i32::try_from(part).unwrap_or(i32::MAX))
}

impl<S: InFlightStore> World<S> {
    /// A broker is told that it leads, with this epoch.
    pub(super) fn lead(&mut self, broker: usize, epoch: i32) {
        self.leader = broker;
        self.epoch = epoch;
        self.brokers[broker].leads = true;
        self.brokers[broker].epoch = epoch;
        for part in 0..self.plan.partitions {
            self.drop_led(broker, part);
            self.read_state(broker, part);
        }
    }

    fn config(&self) -> ShareGroupConfig {
        ShareGroupConfig {
            partition_max_record_locks: self.plan.window,
            delivery_count_limit: self.plan.limit,
            record_lock_duration_ms: self.plan.lock_ms,
            isolation_level: if self.plan.read_committed {
                IsolationLevel::ReadCommitted
            } else {
                IsolationLevel::ReadUncommitted
            },
            dead_letter_queue: self.plan.rate(Fault::DeadLetter) > 0,
            ..ShareGroupConfig::default()
        }
    }

    /// Makes a share partition, which is named by the read of its state.
    pub(super) fn read_state(&mut self, broker: usize, part: usize) {
        let (epoch, life) = (self.brokers[broker].epoch, self.brokers[broker].life);
        let made = SharePartition::new(key(part), epoch, self.config());
        let begun = made
            .map_err(|error| error.to_string())
            .and_then(|mut part| {
                let read = part.begin_initialize().map_err(|error| error.to_string())?;
                Ok((part, read))
            });
        let (made, read) = match begun {
            Ok(begun) => begun,
            Err(error) => return self.find(format!("initialize: {error}")),
        };
        let serial = self.number();
        if let Some(led) = self.brokers[broker].led.get_mut(part) {
            *led = Some(Led {
                serial,
                part: made,
                timer_at: i64::MAX,
                waiting: Vec::new(),
                start_offset: 0,
                terminal: Vec::new(),
                confirmed: Confirmed::default(),
                letters: 0,
            });
        }
        let ask = Ask::Read {
            leader_epoch: read.leader_epoch,
        };
        self.call(Call {
            id: serial,
            broker,
            life,
            part,
            tries: 0,
            ask,
        });
    }

    pub(super) fn read_again(&mut self, broker: usize, life: u32, part: usize) {
        let own = &self.brokers[broker];
        let is_wanted = own.is_up && own.life == life && own.leads;
        if is_wanted && own.led.get(part).is_some_and(Option::is_none) {
            self.read_state(broker, part);
        }
    }

    /// A broker leads no more, and knows it.
    pub(super) fn demote(&mut self, broker: usize) {
        self.brokers[broker].leads = false;
        for part in 0..self.plan.partitions {
            self.drop_led(broker, part);
        }
        for parked in core::mem::take(&mut self.brokers[broker].parked) {
            self.answer(
                parked.member,
                parked.connection,
                parked.request,
                Told::NotLeader,
            );
        }
    }

    pub(super) fn told(&mut self, broker: usize, epoch: i32) {
        if self.brokers[broker].leads && self.brokers[broker].epoch < epoch {
            self.demote(broker);
        }
    }

    /// Another broker leads, or the same one again.
    pub(super) fn take_over(&mut self, aware: bool) {
        let old = self.leader;
        let other = 1 - old;
        let new = if self.brokers[other].is_up && (!aware || !self.chance.once_in(4)) {
            other
        } else {
            old
        };
        if !self.brokers[new].is_up {
            return;
        }
        let epoch = self.epoch + 1;
        if new != old && self.brokers[old].leads {
            if aware {
                self.demote(old);
            } else {
                let wait = self.chance.within(0, 3 * self.plan.lock_ms) * MS;
                self.later(wait, What::Told { broker: old, epoch });
            }
        }
        self.lead(new, epoch);
    }

    pub(super) fn takes_over(&mut self) {
        let leader = &self.brokers[self.leader];
        if !leader.is_up || !leader.leads {
            self.take_over(true);
        }
    }

    /// A broker's process is killed: what it had in memory is gone.
    pub(super) fn crash_broker(&mut self, broker: usize) {
        let own = &mut self.brokers[broker];
        if !own.is_up {
            return;
        }
        let reading = own
            .led
            .iter()
            .flatten()
            .any(|led| led.part.status() == Status::Initializing);
        own.is_up = false;
        own.life += 1;
        own.leads = false;
        own.sessions = ShareSessions::new(100);
        own.parked.clear();
        for ring in &mut own.rings {
            ring.clear();
        }
        own.calls.clear();
        for led in &mut own.led {
            *led = None;
        }
        if reading {
            self.meet(Meeting::CrashInInitialize);
        }
        let back = self.chance.within(20, 1_000) * MS;
        self.later(back, What::BrokerStarts { broker });
        let soon = self.chance.within(5, 200) * MS;
        self.later(soon, What::TakesOver);
    }

    pub(super) fn broker_starts(&mut self, broker: usize) {
        self.brokers[broker].is_up = true;
        self.takes_over();
    }
}
