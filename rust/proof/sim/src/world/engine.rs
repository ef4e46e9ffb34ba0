//! After every step of a share partition: its writes go out, its locks are watched, its invariants are checked.

use share_state_core::in_flight::InFlightStore;
use share_state_core::record_state::{Phase, RecordState};
use share_state_core::share_partition::{DeadLetterToken, Status};

use super::World;
use super::events::{Ask, Call, What};
use super::types::Led;
use crate::broken::Broken;
use crate::meeting::Meeting;
use crate::plan::MS;

impl<S: InFlightStore> World<S> {
    /// Does what a share partition wants done, and checks it. Call it after every step of it.
    pub(super) fn pump(&mut self, broker: usize, part: usize) {
        let (now, life, clock) = (
            self.now,
            self.brokers[broker].life,
            self.brokers[broker].clock,
        );
        if self.plan.inline {
            self.settle_inline(broker, part);
        }
        let mut writes = Vec::new();
        let mut letters = Vec::new();
        let Some(Some(led)) = self.brokers[broker].led.get_mut(part) else {
            return;
        };
        let serial = led.serial;
        while let Some(write) = led.part.poll_write() {
            writes.push((write.token, write.state));
        }
        while let Some(letter) = led.part.poll_dead_letter() {
            led.letters += 1;
            letters.push(letter.token);
        }
        let mut timer = None;
        if let Some(deadline) = led.part.poll_timeout() {
            let wait = clock.until(now, deadline);
            if now + wait < led.timer_at {
                led.timer_at = now + wait;
                timer = Some(wait);
            }
        }
        let checked = check(led);
        let traced = led.part.start_offset() as u64 ^ (led.part.delivery_complete_count() << 32);
        self.trace(traced);
        if let Err(error) = checked {
            self.find(format!("check: {error}"));
        }
        if let Some(wait) = timer {
            self.later(
                wait,
                What::LocksDue {
                    broker,
                    life,
                    part,
                    serial,
                },
            );
        }
        for token in letters {
            let wait = self.chance.within(0, 300) * MS;
            self.later(
                wait,
                What::LetterDone {
                    broker,
                    life,
                    part,
                    serial,
                    token,
                },
            );
        }
        for (token, mut write) in writes {
            if self.is(Broken::PassesOutstanding) {
                write.start_offset += 1;
            }
            if self.is(Broken::DropsBatch) && write.state_batches.len() > 1 {
                write.state_batches.pop();
            }
            let id = self.number();
            let ask = Ask::Write { token, write };
            self.call(Call {
                id,
                broker,
                life,
                part,
                tries: 0,
                ask,
            });
        }
    }

    pub(super) fn locks_due(&mut self, broker: usize, life: u32, part: usize, serial: u64) {
        let own = &mut self.brokers[broker];
        let mut now = own.clock.at(self.now);
        if self.broken == Some(Broken::EndsLocksEarly) {
            now = now.plus(self.plan.lock_ms / 2);
        }
        let Some(Some(led)) = own.led.get_mut(part).filter(|_| own.life == life) else {
            return;
        };
        if led.serial != serial {
            return;
        }
        led.timer_at = i64::MAX;
        let under_way = led.part.writes_under_way();
        if led.part.handle_timeout(now) > 0 && under_way > 0 {
            self.meet(Meeting::LockEndsInWrite);
        }
        self.pump(broker, part);
        self.serve(broker);
    }

    pub(super) fn letter_done(
        &mut self,
        broker: usize,
        (life, part, serial): (u32, usize, u64),
        token: DeadLetterToken,
    ) {
        let own = &mut self.brokers[broker];
        let now = own.clock.at(self.now);
        let is_there = own.life == life;
        let done = match own.led.get_mut(part) {
            Some(Some(led)) if is_there && led.serial == serial => {
                led.part.handle_dead_letter_done(token, now)
            }
            _ => {
                self.meet(Meeting::LetterToTheGone);
                return;
            }
        };
        if done.is_err() {
            self.find(format!("letter: {token:?} is not known"));
        }
        self.pump(broker, part);
        self.serve(broker);
    }

    pub(super) fn is_overtaken(&self, broker: usize, part: usize) -> bool {
        self.brokers[broker].epoch < self.store.leader_epoch(part)
    }
}

/// The invariants of a share partition, and those of two moments of it.
fn check<S: InFlightStore>(led: &mut Led<S>) -> Result<(), String> {
    if led.part.status() != Status::Active {
        return Ok(());
    }
    led.part.check()?;
    let start = led.part.start_offset();
    if start < led.start_offset {
        return Err(format!(
            "the start offset went back from {} to {start}",
            led.start_offset
        ));
    }
    led.start_offset = start;
    let Led {
        part,
        terminal,
        confirmed,
        ..
    } = led;
    for run in part.in_flight().filter(|run| run.phase == Phase::Stable) {
        let (first, last) = (run.range.first, run.range.last);
        let ended = run.state.is_terminal();
        if run.state == RecordState::Acknowledged
            && let Some(offset) = confirmed.first_without(first.max(start), last)
        {
            return Err(format!(
                "{offset} is acknowledged, and the store has not confirmed that"
            ));
        }
        if usize::try_from(last).is_ok_and(|last| last >= terminal.len()) {
            terminal.resize(usize::try_from(last).unwrap_or(0) + 1, false);
        }
        let range = usize::try_from(first).unwrap_or(0)..=usize::try_from(last).unwrap_or(0);
        for known in terminal.get_mut(range).unwrap_or_default() {
            if *known && !ended {
                return Err(format!(
                    "{first} to {last} had ended and is {} again",
                    run.state.name()
                ));
            }
            *known |= ended;
        }
    }
    Ok(())
}
