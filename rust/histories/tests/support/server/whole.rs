//! Events of the whole share partition, and what is seen of it: another leader, a moved log start, a reset, a view.

use super::{Fault, Record, Server, State};

impl Server {
    /// Another leader takes over: it knows what was written. Returns the one before, whose writes are fenced from now on.
    pub fn fail_over(&mut self) -> Self {
        let before = Self {
            is_fenced: true,
            fault: None,
            ..self.clone()
        };
        self.leader_epoch += 1;
        for record in &mut self.records {
            let (count, ended) = record.written;
            record.count = count;
            record.state = if ended {
                State::Ended
            } else {
                State::Available
            };
        }
        before
    }

    /// The log start moves.
    pub fn retain(&mut self, from: i64) {
        self.log_start = from;
        for record in self.records.iter_mut().take(from as usize) {
            record.state = State::Ended;
            record.written.1 = true;
        }
    }

    /// The offsets of the group are reset: the state begins anew.
    pub fn reset(&mut self, start: i64) {
        self.state_epoch += 1;
        self.start = start.max(self.log_start);
        for (offset, record) in (0..).zip(&mut self.records) {
            let is_left_out = offset < self.start;
            *record = Record {
                state: if is_left_out {
                    State::Ended
                } else {
                    State::Available
                },
                count: 0,
                written: (0, is_left_out),
                confirmed: false,
            };
        }
    }

    /// Figures that a view shows: start offset and leader epoch.
    pub fn view(&mut self, now: i64) -> (i64, i64) {
        self.tick(now);
        if self.start > 3 && self.due(Fault::ShowsAnOldStart, now) {
            self.is_done = true;
            return (self.start - 3, self.leader_epoch);
        }
        if self.due(Fault::ShowsAnOldLeader, now) {
            self.is_done = true;
            return (self.start, self.leader_epoch - 1);
        }
        (self.start, self.leader_epoch)
    }
}
