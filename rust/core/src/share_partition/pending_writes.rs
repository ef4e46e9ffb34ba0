//! The writes that are not answered, in the order in which they were made.
//!
//! Answers come in any order, mostly in that of the writes. So the writes stand in a ring by their tokens, an answered one
//! is marked, and the ring gives up what is answered at its front; one write that is never answered does not make the ring
//! grow, for a ring that is mostly answered is packed.

use std::collections::VecDeque;

use super::writes::{Content, WriteKind};
use crate::persister::WriteToken;

/// A write from the change to the answer.
#[derive(Clone, Debug)]
pub(super) struct UnderWay {
    pub token: WriteToken,
    pub content: Content,
    /// Start offset and delivery complete count when the change was made.
    pub start_offset: i64,
    pub delivery_complete_count: i32,
    /// The limit when the change was made counts for its roll-back too.
    pub delivery_limit: i16,
    pub kind: WriteKind,
    /// Only waits to leave the ring, or to be handed out.
    pub is_answered: bool,
}

const _: () = assert!(
    size_of::<UnderWay>() <= 56,
    "a write of one run takes 56 bytes until it is answered"
);

/// The writes handed out or waiting to be.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingWrites {
    next_token: u64,
    /// How many at the front were handed out.
    handed_out: usize,
    answered: usize,
    /// How many were handed out and answered, and only wait to leave.
    done: usize,
    ring: VecDeque<UnderWay>,
}

/// A ring of fewer writes is not packed, and its room is kept when it is empty.
const SMALL: usize = 32;

impl PendingWrites {
    /// Number of writes ever made.
    pub const fn made(&self) -> u64 {
        self.next_token
    }

    /// Number of writes that are not answered.
    pub fn under_way(&self) -> usize {
        self.ring.len() - self.answered
    }

    /// Adds a write, which is given the next token.
    pub fn queue(&mut self, write: impl FnOnce(WriteToken) -> UnderWay) -> WriteToken {
        self.give_up_front();
        let token = WriteToken(self.next_token);
        self.next_token += 1;
        if self.ring.len() == self.ring.capacity() {
            // By an eighth: when a persister is away, writes are what fills the memory.
            self.ring.reserve_exact((self.ring.len() / 8).max(1));
        }
        self.ring.push_back(write(token));
        token
    }

    /// The next write to be handed out.
    pub fn hand_out(&mut self) -> Option<&UnderWay> {
        let at = self.handed_out;
        if at >= self.ring.len() {
            return None;
        }
        self.handed_out += 1;
        let write = self.ring.get(at)?;
        self.done += usize::from(write.is_answered);
        Some(write)
    }

    /// Where the token's write stands, if it is not answered. Without a gap in the ring the token itself tells.
    fn position(&self, token: WriteToken) -> Option<usize> {
        let front = self.ring.front()?.token;
        let guess = usize::try_from(token.0.checked_sub(front.0)?).ok()?;
        let at = match self.ring.get(guess) {
            Some(write) if write.token == token => guess,
            _ => self
                .ring
                .binary_search_by_key(&token, |write| write.token)
                .ok()?,
        };
        self.ring
            .get(at)
            .filter(|write| !write.is_answered)
            .map(|_| at)
    }

    /// Whether the write is under way.
    pub fn knows(&self, token: WriteToken) -> bool {
        self.position(token).is_some()
    }

    /// Takes the write out; one that was not handed out yet will still be.
    pub fn answered(&mut self, token: WriteToken) -> Option<UnderWay> {
        let at = self.position(token)?;
        if at == 0 && self.handed_out > 0 {
            let write = self.ring.pop_front();
            self.handed_out -= 1;
            self.give_up_front();
            return write;
        }
        let write = self.ring.get_mut(at)?;
        write.is_answered = true;
        let write = write.clone();
        self.answered += 1;
        self.done += usize::from(at < self.handed_out);
        if self.ring.len() > SMALL && self.done > self.ring.len() / 2 {
            self.pack();
        }
        Some(write)
    }

    /// Drops what is answered at the front.
    fn give_up_front(&mut self) {
        while self.done > 0 && self.ring.front().is_some_and(|write| write.is_answered) {
            self.ring.pop_front();
            self.handed_out -= 1;
            self.answered -= 1;
            self.done -= 1;
        }
        if self.ring.is_empty() && self.ring.capacity() > SMALL {
            self.ring.shrink_to(SMALL);
        }
    }

    /// Drops what is answered and was handed out.
    fn pack(&mut self) {
        let handed_out = self.handed_out;
        let mut at = 0;
        self.ring.retain(|write| {
            let keep = at >= handed_out || !write.is_answered;
            at += 1;
            keep
        });
        self.ring.shrink_to(self.ring.len() + SMALL);
        self.answered -= self.done;
        self.handed_out -= self.done;
        self.done = 0;
    }
}
