//! The states of an in-flight record and THE TABLE of their transitions.
//!
//! A record's state changes only by a row of [`TABLE`] (Kafka: `RecordState`, `InFlightState`; KIP-932, KIP-1191,
//! KIP-1222). Each record is in a [`RecordState`] and a [`Phase`]: a change that somebody waits for (an acknowledgement,
//! a release by session) is *pending* while its write is under way, shows its target state to nobody, and is then
//! written or refused. A lock time-out is visible at once and written afterwards, so it has no pending phase.
//!
//! Two triggers are drawn from circumstances instead of being asked for, see [`Trigger::effective`]: a record that would
//! become available at its delivery limit meets [`Trigger::DeliveryLimit`], one below the start offset meets
//! [`Trigger::LogStartMove`]. A refusal after the lock ran out is two rows: refused, then lock time-out.

mod state;
mod table;
mod trigger;

pub use state::{Phase, RecordState};
pub use table::{LockRule, TABLE, Transition, When, transition};
pub use trigger::{AcknowledgeType, Trigger};
