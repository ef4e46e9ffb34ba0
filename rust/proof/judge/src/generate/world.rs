//! World around the members: fetches of the log, time, and the log start.

use super::Generator;
use crate::operation::{Range, Verb};
use crate::outcome::{Run, State};

impl Generator {
    pub(super) fn acquire(&mut self, next: i64, state: &State) -> Verb {
        let fetch_offset = if self.random.percent(88) {
            next
        } else {
            self.random.between(
                state.start.saturating_sub(5).max(0),
                state.end.saturating_add(6),
            )
        };
        let count = self.random.pick(&[1, 1, 2, 3, 5]);
        let (fetched, aborted) = self.log.read(&mut self.random, fetch_offset, count);
        let bad = self.random.below(1_000) < self.malformed / 3;
        Verb::Acquire {
            member: self.member(),
            record_limit: self.random.percent(35),
            batch_size: if bad {
                self.random.pick(&[0, -1])
            } else {
                self.random.pick(&[1, 5, 10, 500])
            },
            max_records: self.random.pick(&[1, 2, 5, 10, 50, i32::MAX, 0]),
            fetch_offset,
            fetched,
            aborted: self.log.transactions().then_some(aborted),
        }
    }

    pub(super) fn advance(&mut self, now: i64, due: Option<i64>) -> Verb {
        let to_deadline = due.map_or(0, |due| (due - now).max(0));
        let ms = match self.random.below(6) {
            0 => self.random.between(0, self.limits.lock_ms / 2),
            1 => (to_deadline - 1).max(0),
            2 | 3 => to_deadline,
            4 => to_deadline + self.random.between(1, 20),
            _ => self.limits.lock_ms + self.random.between(0, 10),
        };
        Verb::Advance { ms }
    }

    pub(super) fn log_start(&mut self, state: &State) -> Verb {
        let high = state.end.saturating_add(4).min(self.log.end());
        let pending: Vec<&Run> = state.runs.iter().filter(|run| run.pending).collect();
        let offset = if !pending.is_empty() && self.random.percent(50) {
            let run = pending[self.random.below(pending.len() as u64) as usize];
            self.random.between(run.first, run.last + 1)
        } else if self.random.percent(80) {
            self.random
                .between(state.start, (state.start + 12).min(high.max(state.start)))
        } else {
            self.random
                .between(self.log_start, high.max(self.log_start))
        };
        self.log_start = self.log_start.max(offset);
        Verb::LogStart { offset }
    }

    /// Time goes on until right before a lock ends, or until it does, and its member renews it or says what became of the records.
    pub(super) fn at_the_deadline(&mut self, now: i64, state: &State) -> Vec<Verb> {
        let held: Vec<&Run> = state
            .runs
            .iter()
            .filter(|run| run.deadline >= now)
            .collect();
        if held.is_empty() {
            return vec![Verb::NextFetchOffset];
        }
        let run = held[self.random.below(held.len() as u64) as usize];
        let ms = (run.deadline - now - self.random.pick(&[0, 1, 1])).max(0);
        let acknowledge = Verb::Acknowledge {
            member: run.member,
            ranges: vec![Range {
                first: run.first,
                last: run.last,
                types: vec![self.random.pick(&[1, 2, 4, 4])],
            }],
            renew: true,
        };
        vec![Verb::Advance { ms }, acknowledge]
    }

    /// Something that is asked for without a member id.
    pub(super) fn nobody(&mut self, state: &State) -> Verb {
        let mut verb = match self.random.below(3) {
            0 => self.acquire(state.end.saturating_add(1), state),
            1 => self.acknowledge(state),
            _ => Verb::Release { member: 0 },
        };
        if let Verb::Acquire { member, .. } | Verb::Acknowledge { member, .. } = &mut verb {
            *member = 0;
        }
        verb
    }
}
