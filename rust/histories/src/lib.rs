//! A checker of histories: what clients of share groups saw (KIP-932), and whether the promises of share groups were kept.
//!
//! A history is one event a line ([`Reader`]); [`check`] finds the promises that were broken ([`Check`]), each with the fewest
//! events that show it. It knows no engine: any broker, gateway or fake can be recorded and checked.
//!
//! Every step of a server lies between the request and its answer. A violation is reported only if no order of the steps
//! within these times explains the answers.

mod check;
mod checks;
mod each_record;
mod event;
mod event_index;
mod failovers;
mod history;
mod intervals;
mod lock;
mod names;
mod reading;
mod record_events;
mod reloads;
mod reset_period;
mod reset_periods;
mod rising_offset;
#[cfg(test)]
mod search_tests;
mod settings;
mod share_partition;
mod violation;
mod wrong_field;

pub use check::{Lateness, Report, check};
pub use event::{
    Ack, AckRange, AckType, Event, Grant, Name, Nanos, Outcome, Place, Span, View, What,
};
pub use history::History;
pub use names::Names;
pub use reading::{NotAHistory, Reader};
pub use settings::{MILLI, Settings};
pub use violation::{Check, Violation};
