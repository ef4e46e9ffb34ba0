//! The times between two resets: each has a state of its own, with an epoch of its own.

use std::ops::RangeInclusive;

use crate::event::{Nanos, View};

/// The time between two resets.
#[derive(Debug)]
pub struct Era {
    /// The reset that it begins with, and the offset that was set.
    pub reset: Option<(u32, i64)>,
    /// The epoch that the reset set.
    pub state_epoch: Option<i64>,
    /// When it begins.
    pub from: Nanos,
    /// When it ends.
    pub to: Nanos,
    /// The views that showed a greater start offset than all before, in order: offset, time, event.
    pub rises: Vec<(i64, Nanos, u32)>,
    /// The grants of lower offsets than all before, in order: time, offset.
    pub lows: Vec<(Nanos, i64)>,
}

impl Era {
    /// The first view of the era that shows a start offset above `offset`, and whether an earlier one, a grant or the
    /// reset showed that the share partition did not start after it: offset, time and event of the view.
    pub fn passed(&self, offset: i64) -> Option<(Nanos, u32, bool)> {
        let at = self.rises.partition_point(|&(start, ..)| start <= offset);
        let &(_, t, view) = self.rises.get(at)?;
        let started = at > 0
            || self.reset.is_some_and(|(_, start)| start <= offset)
            || self
                .lowest_granted(t)
                .is_some_and(|lowest| lowest <= offset);
        Some((t, view, started))
    }

    fn lowest_granted(&self, until: Nanos) -> Option<i64> {
        let at = self.lows.partition_point(|&(t, _)| t <= until);
        self.lows.get(at.checked_sub(1)?).map(|&(_, lowest)| lowest)
    }
}

/// Which eras the step of a request may belong to.
pub fn eras_of(eras: &[Era], sent: Nanos, t: Nanos, skew: Nanos) -> RangeInclusive<usize> {
    let era_of = |t: Nanos| eras.partition_point(|era| era.to < t);
    era_of(sent.saturating_sub(skew))..=era_of(t.saturating_add(skew))
}

/// The era, if there is no doubt.
pub fn only(eras: &RangeInclusive<usize>) -> Option<usize> {
    (eras.start() == eras.end()).then_some(*eras.start())
}

/// A reset takes place before it is seen, and may be seen by another clock. The state epoch, where it is shown, tells more.
pub fn era_of_view(eras: &[Era], t: Nanos, view: &View, skew: Nanos) -> Option<usize> {
    if let Some(epoch) = view.state_epoch
        && let Some(found) = eras.iter().rposition(|era| era.state_epoch == Some(epoch))
    {
        return Some(found);
    }
    let number = eras.partition_point(|era| era.to < view.sent);
    let era = eras.get(number)?;
    let is_other = |epoch: i64| era.state_epoch.is_some_and(|own| own != epoch);
    let is_within = view.sent >= era.from.saturating_add(skew) && t <= era.to.saturating_sub(skew);
    (is_within && !view.state_epoch.is_some_and(is_other)).then_some(number)
}
