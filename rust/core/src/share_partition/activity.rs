//! What a share partition has as soon as somebody fetches, and not before.

use super::SharePartition;
use super::counters::Tally;
use super::dead_letter::DeadLetters;
use super::fetch_lock::FetchLock;
use super::lazily::Lazily;
use super::members::Members;
use super::pending_writes::PendingWrites;
use super::window::GapWindow;
use crate::persister::ReadStateResult;

/// Made by the first fetch or command.
#[derive(Clone, Debug, Default)]
pub(super) struct Activity {
    pub members: Members,
    pub writes: PendingWrites,
    pub tally: Tally,
    pub fetch_lock: FetchLock,
    /// The first unsettled offset, where that is known: as long as it stays so, nothing can advance the start offset.
    pub front: Option<i64>,
    pub rare: Lazily<Rare>,
}

impl Activity {
    /// Forgets the first unsettled offset if `doubt` says that it may be another one now.
    pub(super) fn doubt_front(&mut self, doubt: impl FnOnce(i64) -> bool) {
        if self.front.is_some_and(doubt) {
            self.front = None;
        }
    }
}

impl<S> SharePartition<S> {
    pub(super) fn rare(&self) -> Option<&Rare> {
        self.activity.get()?.rare.get()
    }

    pub(super) fn rare_mut(&mut self) -> Option<&mut Rare> {
        self.activity.get_mut()?.rare.get_mut()
    }

    pub(super) fn front(&self) -> Option<i64> {
        self.activity.get()?.front
    }
}

/// What few share partitions have, or only for a while.
#[derive(Clone, Debug, Default)]
pub(super) struct Rare {
    /// A read result whose start offset is not resolved yet.
    pub unresolved: Option<ReadStateResult>,
    pub gap_window: Option<GapWindow>,
    pub dead_letters: DeadLetters,
}
