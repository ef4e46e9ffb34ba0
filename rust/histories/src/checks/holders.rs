//! H2: no two members hold a record at once. H7: no lock ends before its deadline.

use crate::life::{Granted, Life};
use crate::lock::Lock;
use crate::scene::Scene;
use crate::violation::{Check, Violation};

/// How many earlier deliveries a delivery is compared with; Kafka's limit ends at 25.
const EARLIER: usize = 32;

/// How late locks ended: from the deadline to the next delivery, an upper bound.
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
pub fn check(scene: &Scene<'_>, life: &Life, lateness: &mut Lateness, found: &mut Vec<Violation>) {
    if life.grants.len() < 2 {
        return;
    }
    let locks: Vec<Lock> = life
        .grants
        .iter()
        .map(|grant| Lock::of(scene, life, grant))
        .collect();
    let skew = scene.settings.skew;
    for (at, (later, held)) in life.grants.iter().zip(&locks).enumerate() {
        let near = at.saturating_sub(EARLIER)..at;
        let grants = life.grants.get(near.clone()).unwrap_or(&[]).iter();
        let earlier = grants.zip(locks.get(near).unwrap_or(&[])).rev();
        let (mut two, mut early) = (None, None);
        for (before, lock) in earlier {
            if before.era.is_none() || before.era != later.era {
                continue;
            }
            let both = held
                .least
                .min(lock.least)
                .saturating_sub(before.t.max(later.t));
            if before.member != later.member && both > skew {
                two.get_or_insert((before, lock));
            }
            if is_after(scene, before, later) && later.t.saturating_add(skew) < lock.least {
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
            found.push(scene.violation(Check::H2, life.span, text, excerpt));
        }
        if let Some((before, lock)) = early {
            let text = "a lock ended before its deadline";
            let excerpt = [before.event, later.event]
                .into_iter()
                .chain(lock.renewal)
                .collect();
            found.push(scene.violation(Check::H7, life.span, text, excerpt));
        }
        let before = at.checked_sub(1).and_then(|at| locks.get(at));
        if let Some(lock) = before.filter(|lock| lock.ran_out && later.t >= lock.deadline) {
            lateness.note(later.t.saturating_sub(lock.deadline));
        }
    }
}

/// Whether the server took `later` after `before`, though it may have been answered first. The counts tell it, unless a leader
/// before may have given `later`: it counted what the next one does not know of.
fn is_after(scene: &Scene<'_>, before: &Granted, later: &Granted) -> bool {
    later.count > before.count && !scene.failovers.within(later.sent, before.t)
        || later.sent > before.t.saturating_add(scene.settings.skew)
}
