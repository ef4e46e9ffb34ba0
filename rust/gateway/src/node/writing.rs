//! Writes of share partitions on their way to the disk and back.
//!
//! While one round is being written, the next one collects: acknowledgements that arrive meanwhile share one sync. An answer
//! leaves after the round that its acknowledgements went with.
//!
//! Invariant: one round is under way at most, and a share partition's writes stand in it in the order in which it made them. So no
//! two writes of one share partition can change places, whoever carries the rounds.

use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::WriteToken;
use share_state_core::time::LockTime;

use super::Node;
use super::events::Round;
use super::loading::start_write;
use super::names::ServedId;
use super::rounds::{NoSuchRound, Written};
use super::served::Stage;

impl Node {
    /// Returns `true` if there may be writes for a round that is not begun.
    #[must_use]
    pub const fn has_writes(&self) -> bool {
        self.rounds.has_more()
    }

    /// The next round of writes, if there is anything to write and no round is under way.
    pub fn poll_round(&mut self) -> Option<Round> {
        let (mut under_way, mut writes) = (Vec::new(), Vec::new());
        let (dirty, keeps) = self.rounds.take();
        for served in dirty {
            let Some(found) = self.partitions.get_mut(served) else {
                continue;
            };
            found.is_dirty = false;
            let key = found.engine.key();
            if found.stage == Stage::Keeping && found.in_round == 0 {
                found.in_round += 1;
                under_way.push((served, Written::FirstStart));
                writes.push((key.clone(), start_write(&found.engine)));
            }
            while let Some(write) = found.engine.poll_write() {
                found.in_round += 1;
                under_way.push((served, Written::Change(write.token)));
                writes.push((found.engine.key().clone(), write.state));
            }
            self.partitions.forget(served);
        }
        for (served, ticket) in keeps {
            let found = self.partitions.get_mut(served);
            // One round after the other, and no change beside it: so nothing older is written after it.
            match found.filter(|found| found.engine.writes_under_way() == 0) {
                Some(found) => {
                    found.in_round += 1;
                    let state = start_write(&found.engine);
                    under_way.push((served, Written::Start(ticket, state.clone())));
                    writes.push((found.engine.key().clone(), state));
                }
                None => self.tell_kept(ticket, None),
            }
        }
        if writes.is_empty() {
            return None;
        }
        let number = self.rounds.begin(under_way);
        Some(Round { number, writes })
    }

    /// Takes the answers to a round, one a write, in their order: [`KafkaCode::None`] once the write is as durable as is
    /// promised, otherwise why it was refused.
    ///
    /// # Errors
    /// No such round is under way, or it has another number of writes.
    pub fn settle(
        &mut self,
        number: u64,
        answers: &[KafkaCode],
        now: LockTime,
    ) -> Result<(), NoSuchRound> {
        let writes = self.rounds.end(number, answers.len())?;
        for ((served, written), answer) in writes.into_iter().zip(answers) {
            if let Some(found) = self.partitions.get_mut(served) {
                found.in_round -= 1;
            }
            match written {
                Written::FirstStart => self.start_kept(served, *answer, now),
                Written::Change(token) => self.settle_one(served, token, *answer, now),
                Written::Start(ticket, state) => {
                    let kept = (*answer == KafkaCode::None).then_some(state);
                    self.tell_kept(ticket, kept);
                }
            }
            if let Some(next) = self.partitions.written(served)
                && self.partitions.may_load(next)
            {
                self.begin_load(next);
            }
            self.partitions.forget(served);
        }
        self.run(now);
        Ok(())
    }

    fn settle_one(
        &mut self,
        served: ServedId,
        token: WriteToken,
        answer: KafkaCode,
        now: LockTime,
    ) {
        let Some(found) = self.partitions.get_mut(served) else {
            return;
        };
        let waiter = found.settling.remove(&token);
        let Ok(answer) = found.engine.handle_write_result(token, answer, now) else {
            debug_assert!(false, "a write of a round is under way");
            return;
        };
        let code = answer.member_code.code();
        if let Some(waiter) = waiter {
            self.tell(waiter, code);
        }
        if answer.fences {
            self.drop_served(served, code);
        }
        self.changed(served);
    }

    /// Has the writes of a share partition go with the next round.
    pub(super) fn mark_dirty(&mut self, served: ServedId) {
        if let Some(found) = self.partitions.get_mut(served)
            && !found.is_dirty
        {
            found.is_dirty = true;
            self.rounds.add(served);
        }
    }
}
