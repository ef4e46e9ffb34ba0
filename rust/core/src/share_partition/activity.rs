//! What a share partition has as soon as somebody fetches, and not before.

use super::counters::Tally;
use super::dead_letter::DeadLetters;
use super::fetch_lock::FetchLock;
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
}

/// What few share partitions have, or only for a while.
#[derive(Clone, Debug, Default)]
pub(super) struct Rare {
    /// A read result whose start offset is not resolved yet.
    pub unresolved: Option<ReadStateResult>,
    pub gap_window: Option<GapWindow>,
    pub dead_letters: DeadLetters,
}
