//! When another leader took over: locks that it did not know of have ended.

use crate::event::{Nanos, View};

/// The changes of the leader.
#[derive(Debug, Default)]
pub struct Failovers {
    /// When each was over at the latest, in order.
    over: Vec<Nanos>,
    /// When each of them, or one after it, may have begun at the earliest.
    begun: Vec<Nanos>,
}

impl Failovers {
    /// The failovers that answers show, which are in the order of their times.
    pub fn new<'a>(views: impl Iterator<Item = (Nanos, &'a View)>, skew: Nanos) -> Self {
        let mut all = Self::default();
        // The highest epoch, and when it was last asked for and not exceeded.
        let mut known: Option<(i64, Nanos)> = None;
        for (t, view) in views {
            let Some(epoch) = view.leader_epoch else {
                continue;
            };
            match &mut known {
                Some((highest, since)) if epoch == *highest => *since = (*since).max(view.sent),
                Some((highest, since)) if epoch > *highest => {
                    all.begun.push(since.saturating_sub(skew));
                    all.over.push(t.saturating_add(skew));
                    known = Some((epoch, view.sent));
                }
                Some(_) => {}
                None => known = Some((epoch, view.sent)),
            }
        }
        let mut earliest = Nanos::MAX;
        for begun in all.begun.iter_mut().rev() {
            earliest = earliest.min(*begun);
            *begun = earliest;
        }
        all
    }

    /// When one may have begun at the earliest, of those that may not have been over at `t`.
    pub fn since(&self, t: Nanos) -> Option<Nanos> {
        let at = self.over.partition_point(|&over| over < t);
        self.begun.get(at).copied()
    }

    /// Whether another leader may have taken over within a time.
    pub fn within(&self, from: Nanos, to: Nanos) -> bool {
        self.since(from).is_some_and(|begun| begun <= to)
    }
}
