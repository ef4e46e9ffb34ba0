//! Counters of what has happened.

use crate::partition::in_flight::StateCounts;
use crate::util::on_demand::OnDemand;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// Counters of what has happened to a share partition since the object was made. Numbers of records unless said
        /// otherwise.
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
pub(in crate::partition::share_partition) struct Tally {
    acquired: u32,
    acknowledged: u32,
    state_batches_written: u32,
    /// The first three too, as far as 32 bits did not hold them.
    pub rest: OnDemand<Counters>,
}

macro_rules! counted_in_32_bits {
    ($($method:ident counts $name:ident),*) => {$(
        #[inline(always)]
        pub fn $method(&mut self, more: u64) {
            let sum = u64::from(self.$name).saturating_add(more);
            match u32::try_from(sum) {
                Ok(sum) => self.$name = sum,
                Err(_) => {
                    self.$name = 0;
                    spill(&mut self.rest, sum, |rest| &mut rest.$name);
                }
            }
        }
    )*};
}

#[cold]
#[inline(never)]
fn spill(rest: &mut OnDemand<Counters>, sum: u64, which: fn(&mut Counters) -> &mut u64) {
    let all = which(rest.make());
    *all = all.saturating_add(sum);
}

impl Tally {
    counted_in_32_bits! {
        acquire counts acquired,
        acknowledge counts acknowledged,
        write_batches counts state_batches_written
    }

    /// Counts records by the state that they changed to for good.
    #[inline]
    pub fn count_stable(&mut self, to: &StateCounts) {
        let [available, _, acknowledged, _, archived] = *to;
        self.acknowledge(acknowledged);
        if available + archived > 0 {
            let rest = self.rest.make();
            rest.made_available += available;
            rest.archived += archived;
        }
    }

    /// All counters; writes are counted by their tokens.
    pub fn counters(&self, writes: u64) -> Counters {
        let rest = self.rest.get().copied().unwrap_or_default();
        let sum = |rest: u64, here: u32| rest.saturating_add(u64::from(here));
        Counters {
            acquired: sum(rest.acquired, self.acquired),
            acknowledged: sum(rest.acknowledged, self.acknowledged),
            state_batches_written: sum(rest.state_batches_written, self.state_batches_written),
            writes,
            ..rest
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_go_on_past_32_bits() {
        let mut tally = Tally::default();
        let mut sum = 0;
        for more in [1, 1 << 31, 1 << 31, 7, u64::from(u32::MAX), 1 << 40, 3] {
            tally.acquire(more);
            tally.acknowledge(2 * more);
            tally.write_batches(3 * more);
            sum += more;
            let counters = tally.counters(9);
            assert_eq!(counters.acquired, sum);
            assert_eq!(counters.acknowledged, 2 * sum);
            assert_eq!(counters.state_batches_written, 3 * sum);
            assert_eq!(counters.writes, 9);
        }
    }
}
