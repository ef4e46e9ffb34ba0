//! H2: no two members hold a record at once. H7: no lock ends before its deadline.

use crate::lock::Lock;
use crate::record_events::{Granted, RecordEvents};
use crate::share_partition::SharePartition;
use crate::violation::{Check, Violation};

/// Number of earlier deliveries that a delivery is compared with; Kafka's limit ends at 25.
const EARLIER: usize = 32;

/// Delays with which locks ended late: from the deadline to the next delivery, an upper bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Locks that ran out and whose record was delivered again.
    pub locks: u64,
    /// The longest, in nanoseconds.
    pub longest: i64,
    /// The shortest, in nanoseconds.
    pub shortest: i64,
}

impl Lateness {
    /// Takes in one lock.
    pub fn note(&mut self, late: i64) {
        self.longest = if self.locks == 0 {
            late
        } else {
            self.longest.max(late)
        };
        self.shortest = if self.locks == 0 {
            late
        } else {
            self.shortest.min(late)
        };
        self.locks += 1;
    }

    /// Takes in those of another share partition.
    pub fn add(&mut self, other: Self) {
        if other.locks > 0 {
            let locks = self.locks + other.locks;
            self.note(other.longest);
            self.note(other.shortest);
            self.locks = locks;
        }
    }
}

/// Finds records in two hands, and locks that ended early.
pub fn check(
    partition: &SharePartition<'_>,
    record: &RecordEvents,
    locks: &[Lock],
    lateness: &mut Lateness,
    found: &mut Vec<Violation>,
) {
    let skew = partition.settings.skew;
    for (at, (later, held)) in record.grants.iter().zip(locks).enumerate() {
        let near = at.saturating_sub(EARLIER)..at;
        let grants = record.grants.get(near.clone()).unwrap_or(&[]).iter();
        let earlier = grants.zip(locks.get(near).unwrap_or(&[])).rev();
        let (mut two, mut early) = (None, None);
        for (before, lock) in earlier {
            if before.period.is_none() || before.period != later.period {
                continue;
            }
            let both = held
                .least
                .min(lock.least)
                .saturating_sub(before.t.max(later.t));
            if before.member != later.member && both > skew {
                two.get_or_insert((before, lock));
            }
            if is_after(partition, before, later) && later.t.saturating_add(skew) < lock.least {
                early.get_or_insert((before, lock));
            }
        }
        if let Some((before, lock)) = two {
            let text = "two members hold a record at once";
            let renewals = [lock.renewal, held.renewal].into_iter().flatten();
            let excerpt = [before.event, later.event]
                .into_iter()
                .chain(renewals)
                .collect();
            found.push(partition.violation(Check::H2, record.span, text, excerpt));
        }
        if let Some((before, lock)) = early {
            let text = "a lock ended before its deadline";
            let excerpt = [before.event, later.event]
                .into_iter()
                .chain(lock.renewal)
                .collect();
            found.push(partition.violation(Check::H7, record.span, text, excerpt));
        }
        let before = at.checked_sub(1).and_then(|at| locks.get(at));
        if let Some(lock) = before.filter(|lock| lock.ran_out && later.t >= lock.deadline) {
            lateness.note(later.t.saturating_sub(lock.deadline));
        }
    }
}

/// Returns true if the server took `later` after `before`, though it may have been answered first. The counts tell it, unless a
/// leader before may have given `later`: it counted what the next one does not know of.
fn is_after(partition: &SharePartition<'_>, before: &Granted, later: &Granted) -> bool {
    later.count > before.count && !partition.failovers.within(later.sent, before.t)
        || later.sent > before.t.saturating_add(partition.settings.skew)
}
