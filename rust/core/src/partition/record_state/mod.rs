//! The states of an in-flight record and THE TABLE of their transitions.
//!
//! A record's state changes only by a row of [`TABLE`], which [`decide`] looks up (Kafka: `RecordState`, `InFlightState`;
//! KIP-932, KIP-1191, KIP-1222). Each record is in a [`RecordState`] and a [`Phase`]: a change that somebody waits for (an
//! acknowledgement, a release by session) is *pending* while its write is under way, shows its target state to nobody, and
//! is then written or refused. A lock time-out shows at once and is written afterwards, so it has no pending phase. A
//! refusal after the lock ran out is two rows: refused, then lock time-out.

mod circumstance;
mod table;
mod trigger;

pub use crate::delivery::RecordState;
pub use circumstance::{Circumstance, When};
pub use table::{LockRule, TABLE, Transition, decide};
pub use trigger::{AcknowledgeType, Trigger};

/// Phase of a record's last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Phase {
    /// No write is under way that could undo the state.
    #[default]
    Stable = 0,
    /// The state is the target of a write under way; its refusal gives the record back to the member.
    Pending = 1,
    /// A write is under way, but the log start has passed the record: it stays archived whatever the answer.
    PendingFinal = 2,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 3] = [Self::Stable, Self::Pending, Self::PendingFinal];
}
