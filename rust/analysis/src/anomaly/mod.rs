//! Anomalies of share partitions, as far as their history tells.
//!
//! The rules read rows of a history and nothing else: no clock, no log. Times are differences between timestamps of records,
//! so an old log gives the same answer every day. What the log cannot hold, log end offsets and which topics still are, comes
//! in [`Beside`].

mod advice;
mod burst;
mod case;
mod config;
mod context;
mod finder;
mod kind;
mod lag;
mod life;
mod limit;
mod row;
mod suspicion;
mod verdict;
mod watch;
mod window;
#[cfg(test)]
mod window_tests;

pub use config::{AnomalyConfig, Beside, Sample};
pub use finder::Finder;
pub use kind::{AnomalyKind, Severity};
pub use row::Anomaly;
pub use watch::{MOST_KEPT, Watch};

/// A record of the state topic, and its time: where something began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    offset: i64,
    ms: i64,
}

impl Mark {
    const fn of(at: share_state_core::history::At) -> Self {
        Self {
            offset: at.offset,
            ms: at.timestamp,
        }
    }
}
