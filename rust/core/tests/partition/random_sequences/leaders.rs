//! Writes are answered, leaders end, and new ones read what is stored.

use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::WriteState;
use share_state_core::share_partition::SharePartition;

use super::op::Answer;
use super::world::World;
use crate::common::lab::{Lab, key};

impl World {
    pub fn answer(&mut self, token: u64, how: Answer) {
        let write = self.twin.writes[&token].clone();
        let code = match how {
            Answer::Refused => KafkaCode::NotCoordinator,
            Answer::Written | Answer::Lost => match self.persister.write(&write) {
                Ok(()) if matches!(how, Answer::Lost) => KafkaCode::NotCoordinator,
                Ok(()) => KafkaCode::None,
                Err(error) => error.kafka_code(),
            },
        };
        let before = self.seen();
        let answer = both!(self, lab => lab.answer(token, code)).unwrap();
        if code == KafkaCode::None {
            self.persister.confirm(&write);
        } else {
            self.seen().check_undone(&before, &write);
        }
        self.sent.push(write);
        self.note(match (code, answer.fences) {
            (KafkaCode::None, _) => "written",
            (_, false) => "write refused",
            (_, true) => "write fenced",
        });
        if answer.fences {
            both!(self, lab => lab.sp.fence());
            self.crash(0);
        }
    }

    /// A leader whose state was altered meanwhile hears of it.
    pub fn follow_state_epoch(&mut self) {
        if self.persister.state_epoch() != self.twin.sp.state_epoch() {
            self.crash(0);
        }
    }

    pub fn crash(&mut self, written: u64) {
        let writes: Vec<WriteState> = self.twin.writes.values().cloned().collect();
        for (i, write) in writes.into_iter().enumerate() {
            if written >> (i % 64) & 1 == 1 && self.persister.write(&write).is_ok() {
                self.note("written unseen");
            }
            self.sent.push(write);
        }
        self.persister.restart();
        self.note("crash");
        self.lead();
    }

    /// A new leader reads the state.
    pub fn lead(&mut self) {
        self.leader_epoch += 2;
        let read = self.persister.read(self.leader_epoch);
        self.done.clear();
        let (now, config) = (self.now(), *self.twin.sp.config());
        self.twin = Lab::empty(config);
        self.tree = Lab::empty(config);
        self.twin.sp = SharePartition::new(key(), self.leader_epoch, config).unwrap();
        self.tree.sp = SharePartition::new(key(), self.leader_epoch, config).unwrap();
        both!(self, lab => {
            lab.now = now;
            lab.initialize(&read);
        });
        self.persister.check_terminal(&self.seen());
        let log_start = self.log_start;
        both!(self, lab => lab.move_log_start(log_start));
    }
}
