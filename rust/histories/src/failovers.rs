//! Failovers: another leader took over, and locks that it did not know of have ended.

use crate::event::{Nanos, View};
use crate::intervals::{Intervals, earliest_from_each};

/// The changes of the leader.
#[derive(Debug, Default)]
pub struct Failovers {
    /// Latest end of each, in order.
    over: Vec<Nanos>,
    /// Earliest beginning of each of them or of one after it.
    begun: Vec<Nanos>,
    /// Time within which each of them may have been.
    pub times: Intervals,
    /// The epoch of the first leader, and of the one that each of them brought.
    epochs: Vec<i64>,
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
            all.epochs.extend(epoch.first().map(|&(number, ..)| number));
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
        let begun = all.begun.iter().copied();
        all.times = begun.zip(all.over.iter().copied()).collect();
        all
    }

    /// Earliest beginning of those that may not have been over at `t`.
    pub fn since(&self, t: Nanos) -> Option<Nanos> {
        let at = self.over.partition_point(|&over| over < t);
        self.begun.get(at).copied()
    }

    /// The least and the greatest epoch that the leader of a step between two times may have. An epoch between two that were shown
    /// may have been another leader's.
    pub fn leaders(&self, from: Nanos, to: Nanos) -> (i64, i64) {
        let epoch = |at: usize| self.epochs.get(at).copied().unwrap_or(0);
        (
            epoch(self.over.partition_point(|&over| over < from)),
            epoch(self.begun.partition_point(|&begun| begun <= to)),
        )
    }

    /// Returns true if another leader may have taken over within a time. Within the time from a request to what was seen, the
    /// request may then have gone to a leader before the one that was seen.
    pub fn within(&self, from: Nanos, to: Nanos) -> bool {
        self.since(from).is_some_and(|begun| begun <= to)
    }
}
