//! All eras of a share partition, and which of them a request belongs to.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::era::{Era, Reset};
use crate::event::{Nanos, View};

/// The eras of a share partition, one after the other: the first begins before all resets.
#[derive(Debug)]
pub struct Eras {
    eras: Vec<Era>,
    /// The last era of each state epoch.
    of_epoch: HashMap<i64, usize>,
    skew: Nanos,
}

impl Eras {
    /// The eras between resets, which are in the order of their times.
    pub fn new(resets: impl Iterator<Item = Reset>, skew: Nanos) -> Self {
        let mut all = Self {
            eras: vec![Era::first()],
            of_epoch: HashMap::new(),
            skew,
        };
        for reset in resets {
            if let Some(last) = all.eras.last_mut() {
                last.to = reset.t;
            }
            all.of_epoch.insert(reset.state_epoch, all.eras.len());
            all.eras.push(Era::since(&reset));
        }
        all
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Era> {
        self.eras.iter()
    }

    pub fn get(&self, number: usize) -> Option<&Era> {
        self.eras.get(number)
    }

    pub fn get_mut(&mut self, number: usize) -> Option<&mut Era> {
        self.eras.get_mut(number)
    }

    /// Which era a time belongs to.
    pub fn at(&self, t: Nanos) -> usize {
        self.eras.partition_point(|era| era.to < t)
    }

    /// Which eras the step of a request may belong to.
    pub fn of(&self, sent: Nanos, t: Nanos) -> RangeInclusive<usize> {
        self.at(sent.saturating_sub(self.skew))..=self.at(t.saturating_add(self.skew))
    }

    /// The era of a request, if there is no doubt.
    pub fn only(&self, sent: Nanos, t: Nanos) -> Option<usize> {
        let eras = self.of(sent, t);
        (eras.start() == eras.end()).then_some(*eras.start())
    }

    /// The era of an answer that shows state, if there is no doubt. A reset takes place before it is seen, and may be seen by
    /// another clock. The state epoch, where it is shown, tells more.
    pub fn of_view(&self, t: Nanos, view: &View) -> Option<usize> {
        let of_epoch = view.state_epoch.and_then(|epoch| self.of_epoch.get(&epoch));
        if let Some(&found) = of_epoch {
            return Some(found);
        }
        let number = self.at(view.sent);
        let era = self.eras.get(number)?;
        let is_other = |epoch: i64| era.state_epoch.is_some_and(|own| own != epoch);
        let is_within = view.sent >= era.from.saturating_add(self.skew)
            && t <= era.to.saturating_sub(self.skew);
        (is_within && !view.state_epoch.is_some_and(is_other)).then_some(number)
    }

    /// The first reset at `t` or later.
    pub fn next_reset(&self, t: Nanos) -> Option<Nanos> {
        let at = self.eras.partition_point(|era| era.from < t);
        self.eras
            .get(at)
            .filter(|era| era.reset.is_some())
            .map(|era| era.from)
    }
}
