//! Rewriting a log whose records are the whole values of their keys. Nobody compacts it, so dead records would pile up: when
//! they are most of it, all that lives is written as a new segment and the older ones go.
//!
//! A crash leaves the old log, or both, or the new one: the segment gets its name when it is whole and durable, and what is
//! replayed twice is the same.

use share_state_core::offset::plus_saturating;
use share_state_core::time::WallTime;

use super::group::{Group, Records};
use super::{Machine, Shared};

/// A log is rewritten when it is this many times as large as what lives.
const TIMES: u64 = 4;

/// Sizes that decide when a log is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rewriting {
    /// A log that is smaller stays as it is, bytes.
    least_bytes: u64,
    /// About the size of the log, bytes.
    log_bytes: u64,
    /// About the size of what lived when it was rewritten, bytes.
    live_bytes: u64,
}

impl Rewriting {
    /// For a log that has `log_bytes` now.
    pub const fn new(least_bytes: u64, log_bytes: u64) -> Self {
        Self {
            least_bytes,
            log_bytes,
            live_bytes: 0,
        }
    }

    /// Takes note of bytes to be appended; tells whether the log is to be rewritten.
    pub fn grown(&mut self, bytes: u64) -> bool {
        self.log_bytes = self.log_bytes.saturating_add(bytes);
        self.log_bytes > self.least_bytes.max(self.live_bytes.saturating_mul(TIMES))
    }
}

impl<M: Machine> Shared<M> {
    /// Puts all that lives after what was taken in so far. Where nothing lives there is nothing to write, and the log stays
    /// until something does.
    pub(super) fn rewrite(&mut self, now: WallTime) {
        let live = self.machine.live();
        // They were encoded before, each for itself.
        let Ok(records) = Records::encode_all::<M>(Records::default(), &live, now) else {
            return;
        };
        let next_offset = plus_saturating(self.next_offset, records.len() as u64);
        if records.len() == 0 || next_offset == i64::MAX {
            return;
        }
        if let Some(rewriting) = &mut self.rewriting {
            rewriting.live_bytes = records.log_bytes();
            rewriting.log_bytes = rewriting.live_bytes;
        }
        self.groups
            .push_back(Group::whole(self.next_offset, records));
        self.next_offset = next_offset;
    }
}
