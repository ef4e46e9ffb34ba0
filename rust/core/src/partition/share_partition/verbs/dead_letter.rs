//! The dead-letter queue as plain data (KIP-1191): records in ARCHIVING are handed out, and archived when the caller is
//! done with them, whether or not the queue took them.
//!
//! Steps:
//! 1. a change that leads to ARCHIVING waits here until its write is confirmed; a refusal drops it;
//! 2. [`SharePartition::poll_dead_letter`] hands the records out;
//! 3. [`SharePartition::handle_dead_letter_done`] archives them, and one write of it is queued.

use std::collections::{BTreeMap, VecDeque};

use crate::offset::OffsetRange;
use crate::partition::in_flight::InFlightStore;
use crate::partition::record_state::Trigger;
use crate::partition::share_partition::SharePartition;
use crate::partition::share_partition::change::changes::{DeadLetterCause, GivenUp};
use crate::partition::share_partition::change::pending_writes::WriteKind;
use crate::partition::share_partition::error::UnknownToken;
use crate::persister::WriteToken;
use crate::time::LockTime;

/// Names records handed out for the dead-letter queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeadLetterToken(pub u64);

/// Records for the dead-letter queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// Names them in [`SharePartition::handle_dead_letter_done`].
    pub token: DeadLetterToken,
    /// The offsets.
    pub range: OffsetRange,
    /// Number of deliveries of each record.
    pub delivery_count: i16,
    /// Reason for which they were given up.
    pub cause: DeadLetterCause,
}

#[derive(Clone, Debug, Default)]
pub(in crate::partition::share_partition) struct DeadLetters {
    next_token: u64,
    /// Records whose write is under way: only when it is written are they given up.
    unwritten: BTreeMap<WriteToken, Vec<GivenUp>>,
    queue: VecDeque<GivenUp>,
    under_way: BTreeMap<DeadLetterToken, OffsetRange>,
}

impl DeadLetters {
    /// Takes in records that are given up as soon as the write is answered.
    pub(in crate::partition::share_partition) fn wait_for(
        &mut self,
        token: WriteToken,
        given_up: Vec<GivenUp>,
    ) {
        self.unwritten.insert(token, given_up);
    }

    /// The write was answered: what waited for it is given up, unless the change was undone.
    pub(in crate::partition::share_partition) fn written(
        &mut self,
        token: WriteToken,
        undone: bool,
    ) {
        let given_up = self.unwritten.remove(&token).filter(|_| !undone);
        self.queue.extend(given_up.into_iter().flatten());
    }
}

impl<S: InFlightStore> SharePartition<S> {
    /// Number of dead letters that [`Self::poll_dead_letter`] has to hand out.
    #[must_use]
    pub fn dead_letters_to_poll(&self) -> usize {
        self.occasional()
            .map_or(0, |occasional| occasional.dead_letters.queue.len())
    }

    /// The next records for the dead-letter queue.
    pub fn poll_dead_letter(&mut self) -> Option<DeadLetter> {
        let dead_letters = &mut self.occasional_mut()?.dead_letters;
        let GivenUp {
            range,
            delivery_count,
            cause,
        } = dead_letters.queue.pop_front()?;
        let token = DeadLetterToken(dead_letters.next_token);
        dead_letters.next_token += 1;
        dead_letters.under_way.insert(token, range);
        Some(DeadLetter {
            token,
            range,
            delivery_count,
            cause,
        })
    }

    /// Hands over records whose change is written.
    pub(in crate::partition::share_partition) fn give_up(
        &mut self,
        given_up: impl IntoIterator<Item = GivenUp>,
    ) {
        let occasional = self.activity.make().occasional.make();
        occasional.dead_letters.queue.extend(given_up);
    }

    /// Archives records that the dead-letter queue has taken, or finally failed to take.
    ///
    /// # Errors
    /// No such records are under way.
    pub fn handle_dead_letter_done(
        &mut self,
        token: DeadLetterToken,
        now: LockTime,
    ) -> Result<(), UnknownToken> {
        let occasional = self.occasional_mut();
        let Some(range) =
            occasional.and_then(|occasional| occasional.dead_letters.under_way.remove(&token))
        else {
            return Err(UnknownToken(token.0));
        };
        self.observe(now);
        let changes = self.pull_at_once(range, Trigger::DeadLetterDone);
        self.activity.make().tally.rest.make().dead_lettered += changes.records;
        self.queue_write(changes, WriteKind::Noted);
        Ok(())
    }
}
