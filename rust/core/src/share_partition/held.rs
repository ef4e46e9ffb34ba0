//! Many records change together: those of a member that is gone, those whose locks ran out, those of a write of many ranges.

use super::SharePartition;
use super::changes::{Changes, Pull, cut, settled};
use crate::in_flight::{Holder, InFlightRun, InFlightStore};
use crate::offset::OffsetRange;
use crate::record_state::{Trigger, transition};

impl<S: InFlightStore> SharePartition<S> {
    /// [`Self::pull`] over the records of `ranges`, which ascend, that `holder` holds.
    pub(super) fn pull_held(
        &mut self,
        ranges: &[OffsetRange],
        holder: Holder,
        trigger: Trigger,
        eligible: impl Fn(&InFlightRun) -> bool,
        changes: &mut Changes,
    ) {
        let start = self.start_offset;
        let below = ranges.partition_point(|range| range.first < start);
        let (below, behind) = ranges.split_at(below);
        let mut pull_parts = |parts: &[OffsetRange], is_below| {
            let mut pull = Pull::new(is_below, trigger, &self.config, changes);
            let count = &mut self.delivery_complete_count;
            let activity = self.activity.make();
            let parts = parts.iter().copied();
            self.store.update_held(parts, holder, |run| {
                eligible(run).then(|| pull.decide(run, count, activity))?
            });
        };
        if let Some((last, others)) = below.split_last() {
            pull_parts(others, true);
            // The last one may reach over the start offset.
            let [head, tail] = cut(*last, start);
            pull_parts(head.as_slice(), true);
            pull_parts(tail.as_slice(), false);
        }
        pull_parts(behind, false);
    }

    /// [`Self::end_pending`] of all that a write of many ranges confirms, which ascend.
    pub(super) fn end_written(&mut self, ranges: impl Iterator<Item = OffsetRange> + Clone) {
        let start = self.start_offset;
        self.activity.make().front = None;
        let below = ranges.clone().take_while(|range| range.first < start);
        self.end_written_part(below.filter_map(|range| cut(range, start)[0]), true);
        let behind = ranges.filter_map(|r| OffsetRange::new(r.first.max(start), r.last));
        self.end_written_part(behind, false);
    }

    fn end_written_part(&mut self, parts: impl Iterator<Item = OffsetRange>, is_below: bool) {
        let count = &mut self.delivery_complete_count;
        let tally = &mut self.activity.make().tally;
        self.store.update_held(parts, Holder::Anybody, |run| {
            let row = transition(run.state, run.phase, Trigger::Written, false)?;
            Some(settled(run, row.to, is_below, count, tally))
        });
    }
}
