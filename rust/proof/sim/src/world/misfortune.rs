//! Misfortunes at times that the world draws, one thing at a time.

use share_state_core::in_flight::InFlightStore;
use share_state_core::persister::InitializeState;
use share_state_core::record_state::{Phase, RecordState};

use super::World;
use super::brokers::key;
use super::events::{Ask, What};
use super::store::Trouble;
use crate::fault::{Coming, Fault};
use crate::meeting::Meeting;
use crate::plan::MS;

/// The longest step of a clock, microseconds.
const LONGEST_STEP: i64 = 40 * MS;

impl<S: InFlightStore> World<S> {
    pub(super) fn misfortune(&mut self) {
        if self.is_calm {
            return;
        }
        let mut possible = Vec::new();
        for fault in Fault::ALL {
            if fault.coming() == Coming::AtTimes && self.chance.hit(self.plan.rate(fault)) {
                possible.push(fault);
            }
        }
        if possible.is_empty() {
            return;
        }
        let fault = self.chance.of(&possible, Fault::Takeover);
        self.came(fault);
        match fault {
            Fault::Overlap => self.take_over(false),
            Fault::BrokerCrash => self.crash_broker(self.leader),
            Fault::StoreKill => self.end_store(false),
            Fault::StoreClose => self.close_store(),
            Fault::PowerLoss => self.end_store(true),
            Fault::DiskStops => self.trouble(Trouble::Stops),
            Fault::DiskFails => self.trouble(Trouble::Fails),
            Fault::BitFlip => {
                self.store.flips = true;
                self.end_store(false);
            }
            Fault::ClockStep => self.step_clocks(),
            Fault::LogStart => self.move_log_start(),
            Fault::Reset => self.begin_reset(),
            _ => self.take_over(true),
        }
        let at = self.chance.within(0, self.plan.faulty_us / 4);
        self.later(at, What::Misfortune);
    }

    fn step_clocks(&mut self) {
        let step = self.chance.within(-LONGEST_STEP, LONGEST_STEP);
        let leader = self.leader;
        let now = self.now;
        let own = &mut self.brokers[leader];
        own.clock.shift += step;
        own.clock.stepped += step.abs();
        let clock = own.clock;
        let over = own
            .led
            .iter()
            .flatten()
            .filter_map(|led| led.part.poll_timeout())
            .any(|deadline| deadline <= clock.at(now));
        if over && step > 0 {
            self.meet(Meeting::StepOverLocks);
        }
        self.store.shift_ms += self.chance.within(-10_000, 10_000);
        for part in 0..self.plan.partitions {
            // The timer looks at the clock as it is now.
            if let Some(Some(led)) = self.brokers[leader].led.get_mut(part) {
                led.timer_at = i64::MAX;
            }
            self.pump(leader, part);
        }
    }

    fn move_log_start(&mut self) {
        let part = self.chance.below(self.plan.partitions);
        let Some(log) = self.logs.get_mut(part) else {
            return;
        };
        let to = self.chance.within(log.start, log.end.min(log.start + 30));
        if to <= log.start || log.is_open() {
            return;
        }
        log.start = to;
        self.recorder.retained(self.now, part, to);
        for broker in 0..self.brokers.len() {
            if let Some(Some(led)) = self.brokers[broker].led.get_mut(part) {
                let (mut pending, mut held) = (false, false);
                for run in led.part.in_flight().filter(|run| run.range.first < to) {
                    pending |= run.phase == Phase::Pending;
                    held |= run.phase == Phase::Stable && run.state == RecordState::Acquired;
                }
                led.part.move_log_start_offset(to);
                if pending {
                    self.meet(Meeting::LogStartInWrite);
                }
                if held {
                    self.meet(Meeting::LogStartPassesHeld);
                }
                self.pump(broker, part);
                self.serve(broker);
            }
        }
    }

    /// Every member leaves, so that the offsets can be reset.
    fn begin_reset(&mut self) {
        self.is_resetting = true;
        for member in &mut self.members {
            member.is_leaving = true;
        }
        let wait = 4 * self.plan.lock_ms * MS;
        self.later(wait, What::ResetNow { tries: 0 });
    }

    pub(super) fn reset_now(&mut self, tries: u32) {
        let is_empty = self.members.iter().all(|member| !member.is_alive);
        if is_empty && self.store.open.is_some() && self.store.trouble == Trouble::None {
            self.reset();
        } else if tries < 10 && !self.is_calm {
            self.later(100 * MS, What::ResetNow { tries: tries + 1 });
            return;
        }
        self.is_resetting = false;
        for member in &mut self.members {
            member.is_leaving = false;
        }
        let missing = self
            .plan
            .members
            .saturating_sub(self.members.iter().filter(|own| own.is_alive).count());
        for _ in 0..missing {
            self.later(MS, What::NewMember);
        }
    }

    fn reset(&mut self) {
        for part in 0..self.plan.partitions {
            let Some(log) = self.logs.get(part) else {
                continue;
            };
            let start_offset = self.chance.within(log.start, log.end);
            let wall = self.store.wall(self.now);
            let Some(store) = &self.store.open else {
                return;
            };
            let Ok(summary) = store.summary(&key(part)) else {
                return;
            };
            let request = InitializeState {
                state_epoch: summary.state_epoch + 1,
                start_offset,
            };
            let under_way = self.brokers.iter().any(|broker| {
                let writes = |ask: &Ask| matches!(ask, Ask::Write { .. });
                broker
                    .calls
                    .values()
                    .any(|call| call.part == part && writes(&call.ask))
            });
            match store.initialize(&key(part), &request, wall) {
                Ok(()) => {
                    if under_way {
                        self.meet(Meeting::ResetWithWrite);
                    }
                    if let Some(ledger) = self.store.ledgers.get_mut(part) {
                        ledger.initialized(&request);
                    }
                    self.recorder
                        .reset(self.now, part, start_offset, request.state_epoch);
                }
                Err(error) => {
                    // It may have been done.
                    let error = error.to_string();
                    self.store_failed(&error);
                    return;
                }
            }
            for broker in 0..self.brokers.len() {
                self.drop_led(broker, part);
            }
        }
    }
}
