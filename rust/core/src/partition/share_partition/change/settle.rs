//! Writes that are made and answered inside the call that led to them.

use crate::kafka_code::KafkaCode;
use crate::partition::in_flight::InFlightStore;
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::change::writes::WriteAnswer;
use crate::persister::{WritePersister, WriteToken};

/// Outcome of the writes of one call. A refusal is an answer and not an error: the share partition has dealt with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Number of writes that were answered.
    pub writes: usize,
    /// The code for the member that waits: [`KafkaCode::None`], or that of the first of its writes that was refused, whose
    /// change is undone (`SharePartition.fetchPersisterError`).
    pub member_code: KafkaCode,
    /// Answer of the persister to that write.
    pub persister_code: KafkaCode,
    /// Answer of the persister to the first write that it refused, whether a member waits for it or not.
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
        let for_member = |code| if is_awaited { code } else { KafkaCode::None };
        self.join(Self {
            writes: 1,
            member_code: for_member(answer.member_code),
            persister_code: for_member(persister),
            refused: persister,
            fences: answer.fences,
        });
    }

    /// Takes in the outcome of writes that came later.
    pub fn join(&mut self, later: Self) {
        self.writes += later.writes;
        self.fences |= later.fences;
        if self.refused == KafkaCode::None {
            self.refused = later.refused;
        }
        if self.member_code == KafkaCode::None {
            self.member_code = later.member_code;
            self.persister_code = later.persister_code;
        }
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// Returns the outcome of a call whose one write, for which a member waits, is answered.
    #[inline]
    pub(in crate::partition::share_partition) fn settled_by(
        &mut self,
        persister: KafkaCode,
    ) -> Settlement {
        let mut settlement = Settlement::default();
        settlement.add(true, persister, self.answered(persister));
        settlement
    }

    /// Has every write that waits made by `persister`, and takes its answers, without a copy of what is written. Call it
    /// after every command and every `handle_…`, in place of [`SharePartition::poll_write`]. A write that is answered later stays under
    /// way.
    ///
    /// No time passes meanwhile: the answers count as of the latest time seen. When every call is followed by this one, a
    /// member that waits is the one whose command it was.
    #[inline]
    pub fn settle(&mut self, persister: &mut impl WritePersister) -> Settlement {
        let mut settlement = Settlement::default();
        if self.writes_to_poll() > 0 {
            self.settle_waiting(persister, &mut settlement);
        }
        settlement
    }

    #[inline(never)]
    fn settle_waiting(&mut self, persister: &mut impl WritePersister, settlement: &mut Settlement) {
        while let Some(write) = self.lend_write() {
            let (token, is_awaited) = (write.token, write.is_awaited);
            if let Some(code) = persister.take(write) {
                self.settle_one(token, is_awaited, code, settlement);
            }
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
