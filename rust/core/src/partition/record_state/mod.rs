//! The states of an in-flight record and THE TABLE of their transitions.
//!
//! A record's state changes only by a row of [`TABLE`], which [`decide`] looks up (Kafka: `RecordState`, `InFlightState`;
//! KIP-932, KIP-1191, KIP-1222). Each record is in a [`RecordState`] and a [`Phase`]: a change that somebody waits for (an
//! acknowledgement, a release by session) is *pending* while its write is under way, shows its target state to nobody, and
//! is then written or refused. A lock time-out shows at once and is written afterwards, so it has no pending phase. A
//! refusal after the lock ran out is two rows: refused, then lock time-out.

mod circumstance;
mod state;
mod table;
mod trigger;

pub use circumstance::{Circumstance, When};
pub use state::{Phase, RecordState};
pub use table::{LockRule, TABLE, Transition, decide};
pub use trigger::{AcknowledgeType, Trigger};
