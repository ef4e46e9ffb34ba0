//! Writes that are made and answered inside the call that led to them.

use crate::in_flight::InFlightStore;
use crate::kafka_code::KafkaCode;
use crate::persister::{InlinePersister, WriteToken};
use crate::share_partition::SharePartition;
use crate::share_partition::change::writes::WriteAnswer;

/// What came of the writes of one call. A refusal is an answer and not an error: the share partition has dealt with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Number of writes that were answered.
    pub writes: usize,
    /// The code for the member that waits: [`KafkaCode::None`], or that of the first of its writes that was refused, whose
    /// change is undone (`SharePartition.fetchPersisterError`).
    pub member_code: KafkaCode,
    /// What the persister answered to that write.
    pub persister_code: KafkaCode,
    /// What the persister answered to the first write that it refused, whether a member waits for it or not.
    pub refused: KafkaCode,
    /// As [`WriteAnswer::fences`], of any of the writes.
    pub fences: bool,
}

impl Default for Settlement {
    /// No write was made.
    fn default() -> Self {
        Self {
            writes: 0,
            member_code: KafkaCode::None,
            persister_code: KafkaCode::None,
            refused: KafkaCode::None,
            fences: false,
        }
    }
}

impl Settlement {
    /// Takes in the answer to one more write: the persister's code, and what [`SharePartition::handle_write_result`] made of it
    /// for a write that a member waits for, or that nobody does.
    pub fn add(&mut self, is_awaited: bool, persister: KafkaCode, answer: WriteAnswer) {
        self.writes += 1;
        self.fences |= answer.fences;
        if self.refused == KafkaCode::None {
            self.refused = persister;
        }
        if is_awaited && self.member_code == KafkaCode::None {
            self.member_code = answer.member_code;
            self.persister_code = persister;
        }
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// What came of a call whose one write, for which a member waits, is answered.
    #[inline]
    pub(in crate::share_partition) fn settled_by(&mut self, persister: KafkaCode) -> Settlement {
        let mut settlement = Settlement::default();
        settlement.add(true, persister, self.answered(persister));
        settlement
    }

    /// Has every write that waits made by `persister`, and takes its answers, without a copy of what is written. Call it
    /// after every command and every `handle_…`, in place of [`SharePartition::poll_write`].
    ///
    /// No time passes meanwhile: the answers count as of the latest time seen. When every call is followed by this one, a
    /// member that waits is the one whose command it was.
    #[inline]
    pub fn settle(&mut self, persister: &mut impl InlinePersister) -> Settlement {
        let mut settlement = Settlement::default();
        if self.writes_to_poll() > 0 {
            self.settle_waiting(persister, &mut settlement);
        }
        settlement
    }

    #[inline(never)]
    fn settle_waiting(
        &mut self,
        persister: &mut impl InlinePersister,
        settlement: &mut Settlement,
    ) {
        while let Some(write) = self.lend_write() {
            let (token, is_awaited) = (write.token, write.is_awaited);
            let code = persister.write_state(write.key, write.state);
            self.settle_one(token, is_awaited, code, settlement);
        }
    }

    /// Takes the answer to a write that [`SharePartition::lend_write`] handed out earlier, as of the latest time seen: for a
    /// persister that answers when the share partition is free for others again. One that is not under way is passed over.
    pub fn settle_one(
        &mut self,
        token: WriteToken,
        is_awaited: bool,
        code: KafkaCode,
        settlement: &mut Settlement,
    ) {
        if let Ok(answer) = self.take_answer(token, code) {
            settlement.add(is_awaited, code, answer);
        }
    }
}
