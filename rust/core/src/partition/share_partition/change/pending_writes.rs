//! The writes that are not answered, in the order in which they were made.
//!
//! Answers come in any order, mostly in that of the writes. So the writes stand in a list by their tokens, and an answered
//! one is only marked; when most of the list is marked it is packed. A write that is never answered makes nothing grow.

use core::ops::Range;

use crate::delivery::StateBatch;
use crate::persister::{WriteStateRef, WriteToken};
use crate::util::on_demand::OnDemand;
use crate::util::one_or_many::OneOrMany;

/// Kind of a write: a refusal undoes its change, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::partition::share_partition) enum WriteKind {
    /// A member waits for the write: its refusal undoes the change.
    Confirmed,
    /// Memory keeps the change whatever the answer.
    Noted,
}

/// The epochs that go with every write.
#[derive(Clone, Copy, Debug)]
pub(in crate::partition::share_partition) struct Epochs {
    pub state_epoch: i32,
    pub leader_epoch: i32,
}

/// Head of a write, beside its state batches, as of the change.
#[derive(Clone, Copy, Debug)]
pub(in crate::partition::share_partition) struct WriteHead {
    pub start_offset: i64,
    pub delivery_complete_count: i32,
}

impl WriteHead {
    /// A count beyond what Kafka's field holds stays at the most that it holds.
    pub fn new(start_offset: i64, delivery_complete_count: u64) -> Self {
        Self {
            start_offset,
            delivery_complete_count: i32::try_from(delivery_complete_count).unwrap_or(i32::MAX),
        }
    }

    /// The write as the persister is given it.
    pub const fn write(self, epochs: Epochs, state_batches: &[StateBatch]) -> WriteStateRef<'_> {
        WriteStateRef {
            state_epoch: epochs.state_epoch,
            leader_epoch: epochs.leader_epoch,
            start_offset: self.start_offset,
            delivery_complete_count: self.delivery_complete_count,
            state_batches,
        }
    }
}

/// A write from the change to the answer.
#[derive(Clone, Debug)]
pub(in crate::partition::share_partition) struct UnderWay {
    pub token: WriteToken,
    pub batches: OneOrMany<StateBatch>,
    /// [`WriteHead::start_offset`], apart from the rest of the head: together they would take eight bytes more.
    pub start_offset: i64,
    pub delivery_complete_count: i32,
    /// The limit when the change was made counts for its roll-back too.
    pub delivery_limit: i16,
    pub kind: WriteKind,
    /// Only waits to be handed out, or to leave the list.
    pub is_answered: bool,
}

const _: () = assert!(
    size_of::<UnderWay>() <= 56,
    "a write of one run takes 56 bytes until it is answered"
);

impl UnderWay {
    /// The write as the persister is given it.
    pub fn write(&self, epochs: Epochs) -> WriteStateRef<'_> {
        let head = WriteHead {
            start_offset: self.start_offset,
            delivery_complete_count: self.delivery_complete_count,
        };
        head.write(epochs, self.batches.as_slice())
    }
}

/// The writes handed out or waiting to be.
#[derive(Clone, Debug, Default)]
pub(in crate::partition::share_partition) struct PendingWrites {
    next_token: u64,
    /// Made by the first write that is not answered while it is made.
    queue: OnDemand<Queue>,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    list: Vec<UnderWay>,
    /// Number of writes at the front that were handed out.
    handed_out: u32,
    /// Number of all writes that are answered.
    answered: u32,
    /// Number of writes that are both, and only wait to leave the list.
    done: u32,
}

/// A list of fewer writes is not packed before all are done, and then it keeps its room.
const SMALL: usize = 32;

impl PendingWrites {
    /// Number of writes ever made.
    pub const fn made(&self) -> u64 {
        self.next_token
    }

    /// Number of writes waiting to be handed out.
    #[inline]
    pub fn to_hand_out(&self) -> usize {
        let queue = self.queue.get();
        queue.map_or(0, |queue| queue.list.len() - queue.handed_out as usize)
    }

    /// Tokens of the writes waiting to be handed out.
    pub fn tokens_to_hand_out(&self) -> Range<u64> {
        let queue = self.queue.get();
        let first = queue.and_then(|queue| queue.list.get(queue.handed_out as usize));
        first.map_or(self.next_token, |write| write.token.0)..self.next_token
    }

    /// Number of writes that are not answered.
    pub fn under_way(&self) -> usize {
        let queue = self.queue.get();
        queue.map_or(0, |queue| queue.list.len() - queue.answered as usize)
    }

    /// Adds a write, which is given the next token.
    pub fn queue(&mut self, write: UnderWay) -> WriteToken {
        let token = WriteToken(self.next_token);
        self.next_token += 1;
        let queue = self.queue.make();
        if queue.list.len() == queue.list.capacity() {
            queue.grow();
        }
        debug_assert!(
            queue.list.last().is_none_or(|last| last.token < token),
            "tokens ascend"
        );
        queue.list.push(UnderWay { token, ..write });
        token
    }

    /// Counts a write that was answered before it could be queued.
    pub const fn pass_by(&mut self) {
        self.next_token += 1;
    }

    /// The next write to be handed out.
    pub fn hand_out(&mut self) -> Option<&UnderWay> {
        self.queue.get_mut()?.hand_out()
    }

    /// Returns the place of the token's write, if it is not answered; the place holds until the next answer.
    pub fn place(&self, token: WriteToken) -> Option<usize> {
        self.queue.get()?.place(token)
    }

    /// Takes out what the answered write at this place was; one that was not handed out yet will still be.
    pub fn answer(&mut self, place: usize) -> Option<(WriteKind, i16, OneOrMany<StateBatch>)> {
        self.queue.get_mut()?.answer(place)
    }
}

impl Queue {
    /// By an eighth: when a persister is away, writes are what fills the memory.
    #[cold]
    fn grow(&mut self) {
        self.list.reserve_exact((self.list.len() / 8).max(1));
    }

    fn hand_out(&mut self) -> Option<&UnderWay> {
        let write = self.list.get(self.handed_out as usize)?;
        self.handed_out += 1;
        self.done += u32::from(write.is_answered);
        debug_assert!(
            self.done <= self.answered.min(self.handed_out),
            "done is what is both handed out and answered"
        );
        Some(write)
    }

    /// Without a gap in the list the token itself tells.
    fn place(&self, token: WriteToken) -> Option<usize> {
        let front = self.list.first()?.token;
        let guess = token.0.wrapping_sub(front.0) as usize;
        let at = match self.list.get(guess) {
            Some(write) if write.token == token => guess,
            _ => self
                .list
                .binary_search_by_key(&token, |write| write.token)
                .ok()?,
        };
        (!self.list[at].is_answered).then_some(at)
    }

    fn answer(&mut self, place: usize) -> Option<(WriteKind, i16, OneOrMany<StateBatch>)> {
        let is_out = place < self.handed_out as usize;
        let write = self.list.get_mut(place)?;
        debug_assert!(!write.is_answered, "a write is answered once: {write:?}");
        write.is_answered = true;
        let batches = if is_out {
            core::mem::take(&mut write.batches)
        } else {
            write.batches.clone()
        };
        let taken = (write.kind, write.delivery_limit, batches);
        self.answered += 1;
        self.done += u32::from(is_out);
        let done = self.done as usize;
        if done == self.list.len() {
            self.list.clear();
            (self.handed_out, self.answered, self.done) = (0, 0, 0);
            if self.list.capacity() > SMALL {
                self.list = Vec::new();
            }
        } else if self.list.len() > SMALL && done > self.list.len() / 2 {
            self.pack();
        }
        Some(taken)
    }

    /// Drops what is handed out and answered.
    #[cold]
    fn pack(&mut self) {
        let mut ahead = self.handed_out;
        self.list.retain(|write| {
            let is_out = ahead > 0;
            ahead = ahead.saturating_sub(1);
            !(is_out && write.is_answered)
        });
        self.list.shrink_to(self.list.len() + self.list.len() / 8);
        self.answered -= self.done;
        self.handed_out -= self.done;
        self.done = 0;
        debug_assert!(
            self.list
                .iter()
                .take(self.handed_out as usize)
                .all(|write| !write.is_answered),
            "what was handed out and is kept waits for its answer"
        );
    }
}

#[cfg(test)]
mod tests;
