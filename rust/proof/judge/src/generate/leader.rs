//! A new leader: the state that it reads, sound or corrupt, and the limits of its group.

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;

use super::Generator;
use crate::engine::Engine;
use crate::operation::{Batch, Verb};

impl Generator {
    pub(super) fn create(&mut self) -> Verb {
        self.leader_epoch += 1;
        Verb::Create {
            leader_epoch: self.leader_epoch,
            limits: self.limits,
        }
    }

    pub(super) fn change_limits(&mut self) {
        let limits = &mut self.limits;
        match self.random.below(4) {
            0 => limits.max_locks = self.random.pick(&[5, 10, 20, 50, 200, 1_000, 10_000]),
            1 => limits.delivery_limit = self.random.pick(&[2, 3, 4, 5, 7, 10]),
            2 => limits.lock_ms = self.random.pick(&[50, 100, 1_000, 30_000]),
            _ => limits.dead_letters = !limits.dead_letters,
        }
    }

    pub(super) fn initialize<S: InFlightStore>(&mut self, engine: &Engine<S>) -> Verb {
        let first = self.leader_epoch == 0;
        let stored = &engine.stored;
        let mut start_offset = stored.start;
        let mut batches: Vec<Batch> = stored
            .batches
            .iter()
            .map(|b| {
                (
                    b.first_offset,
                    b.last_offset,
                    b.delivery_state,
                    b.delivery_count,
                )
            })
            .collect();
        if first && self.random.percent(40) {
            start_offset = self.log_start + self.random.between(0, 6);
            batches = self.persisted(start_offset);
        } else if first && self.random.percent(50) {
            start_offset = self.log_start;
        }
        let code = if self.random.one_in(60) {
            self.random.pick(KafkaCode::ALL).code()
        } else {
            0
        };
        if self.malformed > 0 && self.random.percent(5) && !batches.is_empty() {
            self.corrupt(&mut batches);
        }
        Verb::Initialize {
            code,
            state_epoch: self.random.pick(&[0, 0, 3]),
            start_offset,
            earliest: self.log_start,
            batches,
        }
    }

    fn persisted(&mut self, start: i64) -> Vec<Batch> {
        let mut batches = Vec::new();
        let mut at = start;
        for _ in 0..self.random.below(6) {
            at += self.random.pick(&[0, 0, 1, 4, 9]);
            let last = at + self.random.between(0, 9);
            let states: &[i8] = if self.random.percent(20) {
                &[0, 2, 3, 4]
            } else {
                &[0, 2, 4]
            };
            batches.push((
                at,
                last,
                self.random.pick(states),
                self.random.between(1, 4) as i16,
            ));
            at = last + 1;
        }
        batches
    }

    fn corrupt(&mut self, batches: &mut [Batch]) {
        let index = self.random.below(batches.len() as u64) as usize;
        let batch = &mut batches[index];
        match self.random.below(5) {
            0 => batch.2 = self.random.pick(&[1, 5, -1, 77]),
            1 => (batch.0, batch.1) = (batch.1 + 1, batch.0),
            2 => batch.3 = self.random.pick(&[0, -3]),
            3 => batch.0 = -4,
            _ => batch.1 += 50,
        }
    }
}
