//! A broker's calls of the store: repeated until they are answered, or given up.

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::WriteToken;
use share_state_core::share_partition::{Initialized, WriteAnswer};

use super::World;
use super::events::{Ask, Call, CallAnswer, Told, What};
use crate::broken::Broken;
use crate::meeting::Meeting;
use crate::plan::MS;

/// Times that a call is made before it is given up.
const TRIES: u32 = 4;

impl<S: InFlightStore> World<S> {
    pub(super) fn call_again(&mut self, broker: usize, life: u32, id: u64) {
        let own = &mut self.brokers[broker];
        if own.life != life {
            return;
        }
        let Some(mut call) = own.calls.remove(&id) else {
            return;
        };
        call.tries += 1;
        if call.tries < TRIES || self.is_calm {
            if call.tries == 1 {
                call.tries += u32::try_from(self.chance.within(0, 2)).unwrap_or(0);
            }
            self.call(call);
            return;
        }
        // Whether it has arrived is not known.
        self.given_up.insert(id);
        self.deliver(call, CallAnswer::Code(KafkaCode::CoordinatorNotAvailable));
    }

    pub(super) fn call_answered(&mut self, call: Call, answer: CallAnswer) {
        let own = &mut self.brokers[call.broker];
        if own.life != call.life || !own.is_up {
            self.meet(Meeting::AnswerToTheGone);
            return;
        }
        let Some(call) = own.calls.remove(&call.id) else {
            return;
        };
        if let CallAnswer::Code(KafkaCode::FencedLeaderEpoch) = answer {
            self.meet(Meeting::OvertakenIsFenced);
        }
        self.deliver(call, answer);
    }

    fn deliver(&mut self, call: Call, answer: CallAnswer) {
        let (broker, part) = (call.broker, call.part);
        match (call.ask, answer) {
            (Ask::Read { .. }, CallAnswer::State(state)) => {
                self.state_is_read(broker, part, call.id, state);
            }
            (Ask::Read { .. }, CallAnswer::Code(code)) => {
                let now = self.is_led_by(broker, part, call.id);
                if now {
                    if let Some(Some(led)) = self.brokers[broker].led.get_mut(part) {
                        led.part.initialize_failed(code);
                    }
                    self.drop_led(broker, part);
                }
            }
            (Ask::Write { token, write }, CallAnswer::Code(code)) => {
                self.write_is_answered(broker, part, token, code, &write);
            }
            (Ask::Write { .. }, CallAnswer::State(_)) => {}
        }
        self.pump(broker, part);
        self.serve(broker);
    }

    /// Returns true if the share partition is the one that the read was for: it is named by its read.
    fn is_led_by(&self, broker: usize, part: usize, serial: u64) -> bool {
        self.brokers[broker]
            .led
            .get(part)
            .and_then(Option::as_ref)
            .is_some_and(|led| led.serial == serial)
    }

    fn state_is_read(
        &mut self,
        broker: usize,
        part: usize,
        serial: u64,
        state: share_state_core::persister::ReadStateResult,
    ) {
        if !self.is_led_by(broker, part, serial) {
            return;
        }
        let log_start = self.logs.get(part).map_or(0, |log| log.start);
        let Some(Some(led)) = self.brokers[broker].led.get_mut(part) else {
            return;
        };
        led.confirmed.add(&state.state_batches);
        let begun = match led.part.initialize(state) {
            Ok(Initialized::NeedsStartOffset(_)) => {
                led.part.resolve_start_offset(log_start).map(|_| ())
            }
            Ok(Initialized::Active) => Ok(()),
            Err(error) => Err(error),
        };
        led.part.move_log_start_offset(log_start);
        led.start_offset = led.part.start_offset();
        let letters = led.part.dead_letters_to_poll();
        if let Err(error) = begun {
            self.find(format!("initialize: {error}"));
        }
        if letters > 0 {
            self.meet(Meeting::LetterAgain);
        }
    }

    fn write_is_answered(
        &mut self,
        broker: usize,
        part: usize,
        token: WriteToken,
        code: KafkaCode,
        write: &share_state_core::persister::WriteState,
    ) {
        let now = self.brokers[broker].now(self.now);
        let keeps_failed = self.is(Broken::KeepsFailed);
        let Some(Some(led)) = self.brokers[broker].led.get_mut(part) else {
            return;
        };
        // A share partition made since does not know the write.
        let is_its_own = led.part.leader_epoch() == write.leader_epoch
            && led.part.state_epoch() == write.state_epoch;
        if !is_its_own {
            return;
        }
        if code == KafkaCode::None {
            led.confirmed.add(&write.state_batches);
        }
        let told = if keeps_failed { KafkaCode::None } else { code };
        let answer = led.part.handle_write_result(token, told, now);
        let waiter = led.take_waiter(token);
        let Ok(WriteAnswer { fences, .. }) = answer else {
            return;
        };
        let counts = true;
        if let Some(waiter) = waiter {
            let told = if code == KafkaCode::None {
                Told::Done { counts }
            } else {
                Told::Failed { counts }
            };
            self.answer(waiter.member, waiter.connection, waiter.request, told);
        }
        if fences {
            self.drop_led(broker, part);
        }
    }

    /// A broker has no share partition any more; who waited for its writes does not know what came of them.
    pub(super) fn drop_led(&mut self, broker: usize, part: usize) {
        let own = &mut self.brokers[broker];
        own.calls.retain(|_, call| call.part != part);
        let (life, leads) = (own.life, own.leads);
        let Some(led) = own.led.get_mut(part).and_then(Option::take) else {
            return;
        };
        for waiter in led.waiting {
            let told = Told::Failed { counts: true };
            self.answer(waiter.member, waiter.connection, waiter.request, told);
        }
        if leads {
            self.later(50 * MS, What::ReadAgain { broker, life, part });
        }
    }
}
