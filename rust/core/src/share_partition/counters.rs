//! What has happened, counted.

use super::lazily::Lazily;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// What has happened to a share partition since the object was made. Numbers of records unless said otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub struct Counters { $($(#[$doc])* pub $name: u64,)* }

        impl Counters {
            /// Every counter with its name.
            #[must_use]
            pub fn entries(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}

counters! {
    /// Acquired, each delivery counted.
    acquired,
    /// Accepted, as far as written.
    acknowledged,
    /// Made available again by a release, a session's end or a lock time-out.
    made_available,
    /// Archived for any reason.
    archived,
    /// Given to the dead-letter queue.
    dead_lettered,
    /// Renewed.
    renewed,
    /// Locks that ran out, counted in records.
    lock_timeouts,
    /// Archived because they were delivered as often as allowed.
    delivery_limit_reached,
    /// Archived because the log start passed them.
    log_start_archived,
    /// Writes handed out (writes, not records).
    writes,
    /// Writes refused (writes, not records).
    writes_refused,
    /// State batches handed out for writing (batches, not records).
    state_batches_written,
}

/// The counters as they are kept: what goes well counts here, all else in the rest, which a share partition without trouble
/// does not have.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub acquired: u64,
    pub acknowledged: u64,
    pub state_batches_written: u64,
    pub rest: Lazily<Counters>,
}

impl Tally {
    /// All counters; writes are counted by their tokens.
    pub fn counters(&self, writes: u64) -> Counters {
        Counters {
            acquired: self.acquired,
            acknowledged: self.acknowledged,
            state_batches_written: self.state_batches_written,
            writes,
            ..self.rest.get().copied().unwrap_or_default()
        }
    }
}
