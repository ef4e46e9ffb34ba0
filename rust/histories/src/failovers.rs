//! When another leader took over: locks that it did not know of have ended.

use crate::event::{Nanos, View};
use crate::intervals::earliest_from_each;

/// The changes of the leader.
#[derive(Debug, Default)]
pub struct Failovers {
    /// When each was over at the latest, in order.
    over: Vec<Nanos>,
    /// When each of them, or one after it, may have begun at the earliest.
    begun: Vec<Nanos>,
}

impl Failovers {
    /// The failovers that answers show. A leader serves on for `overlap` at the most once its successor is seen.
    pub fn new<'a>(
        views: impl Iterator<Item = (Nanos, &'a View)>,
        skew: Nanos,
        overlap: Nanos,
    ) -> Self {
        let mut all = Self::default();
        let mut shown: Vec<(i64, Nanos, Nanos)> = views
            .filter_map(|(t, view)| Some((view.leader_epoch?, view.sent, t)))
            .collect();
        // Answers may cross: an epoch was there when somebody asked who was shown it.
        shown.sort_unstable();
        // When an earlier epoch was last asked for.
        let mut asked: Option<Nanos> = None;
        for epoch in shown.chunk_by(|before, later| before.0 == later.0) {
            let seen = epoch.iter().map(|&(.., t)| t).min().unwrap_or(Nanos::MAX);
            if let Some(asked) = asked {
                all.begun.push(asked.min(seen).saturating_sub(skew));
                // Who is succeeded may serve on until it hears of it.
                all.over
                    .push(seen.saturating_add(skew).saturating_add(overlap));
            }
            asked = asked.max(epoch.iter().map(|&(_, sent, _)| sent).max());
        }
        // Who shows a later epoch shows that this one is over.
        earliest_from_each(all.over.iter_mut());
        earliest_from_each(all.begun.iter_mut());
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
