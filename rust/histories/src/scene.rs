//! A share partition with all that the life of its records is judged by.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::era::{Era, era_of_view, eras_of, only};
use crate::event::{Event, Grant, Name, Nanos, Span, View, What};
use crate::gather::{Gathered, GroupEvents, LogEvents, SharePartitionEvents};
use crate::history::History;
use crate::settings::{MILLI, Settings};
use crate::violation::{Check, Violation};

/// See the module.
#[derive(Debug)]
pub struct Scene<'a> {
    pub history: &'a History,
    pub settings: &'a Settings,
    pub group: Name,
    pub topic: Name,
    pub partition: i32,
    pub events: &'a SharePartitionEvents,
    pub log: Option<&'a LogEvents>,
    pub members: Option<&'a GroupEvents>,
    /// Between two resets the state has one epoch.
    pub eras: Vec<Era>,
    /// When another leader took over: after `from`, and before `to`.
    pub failovers: Vec<Failover>,
    /// Moves of the log start: the offset, the time and the event.
    pub retained: Vec<(i64, Nanos)>,
    /// The drains that concern the share partition.
    pub drained: Vec<(Nanos, u32)>,
    /// How long the last request of a member that went may have waited: as long as others are seen to.
    pub lingering: Nanos,
    /// When the history ends.
    pub end: Nanos,
}

/// A change of the leader; locks that it did not know of have ended.
#[derive(Clone, Copy, Debug)]
pub struct Failover {
    pub from: Nanos,
    pub to: Nanos,
}

/// How long a request that nobody waits for any more may wait at the server, at the most: more than any client asks for.
pub const LINGERING: Nanos = 10_000 * MILLI;
/// And how long it may at the least: clients ask for half a second when they do not say.
const SHORT_WAIT: Nanos = 1000 * MILLI;

impl<'a> Scene<'a> {
    pub fn new(
        history: &'a History,
        settings: &'a Settings,
        gathered: &'a Gathered,
        (group, topic, partition): (Name, Name, i32),
        events: &'a SharePartitionEvents,
    ) -> Self {
        let log = gathered.logs.get(&(topic, partition));
        let mut scene = Self {
            history,
            settings,
            group,
            topic,
            partition,
            events,
            log,
            members: gathered.groups.get(&group),
            eras: Vec::new(),
            failovers: Vec::new(),
            retained: Vec::new(),
            drained: Vec::new(),
            lingering: gathered.longest_wait.clamp(SHORT_WAIT, LINGERING),
            end: history.events.last().map_or(0, |event| event.t),
        };
        scene.eras = scene.make_eras();
        scene.failovers = scene.make_failovers();
        for &at in log.map_or(&[][..], |log| &log.retained) {
            if let What::Retained { from } = scene.event(at).what {
                scene.retained.push((from, scene.event(at).t));
            }
        }
        for &at in &gathered.drained {
            let event = scene.event(at);
            let place = event.place;
            if place.group.is_none_or(|wanted| wanted == group)
                && place.topic.is_none_or(|wanted| wanted == topic)
                && place.partition.is_none_or(|wanted| wanted == partition)
            {
                scene.drained.push((event.t, at));
            }
        }
        scene
    }

    /// The event at a position; positions come from the history itself.
    pub fn event(&self, at: u32) -> &'a Event {
        const NOTHING: Event = Event {
            t: 0,
            place: crate::event::Place {
                group: None,
                topic: None,
                partition: None,
            },
            what: What::Drained,
        };
        self.history.events.get(at as usize).unwrap_or(&NOTHING)
    }

    pub fn grants(&self) -> impl Iterator<Item = (u32, Nanos, &'a Grant)> {
        self.events.grants.iter().filter_map(|&at| {
            let event = self.event(at);
            match &event.what {
                What::Grant(grant) => Some((at, event.t, grant)),
                _ => None,
            }
        })
    }

    pub fn views(&self) -> impl Iterator<Item = (u32, Nanos, &'a View)> {
        self.events.views.iter().filter_map(|&at| {
            let event = self.event(at);
            match &event.what {
                What::View(view) => Some((at, event.t, view)),
                _ => None,
            }
        })
    }

    /// How many members of the group went within a time, or a little before. Each may have taken a grant with it that nobody
    /// saw, and its last request may have waited at the server for longer than it lived itself.
    pub fn gone_within(&self, from: Nanos, to: Nanos) -> i64 {
        let gone = self.members.map_or(&[][..], |members| &members.gone);
        let skew = self.settings.skew;
        let before = gone.partition_point(|&t| t < from.saturating_sub(self.lingering));
        let until = gone.partition_point(|&t| t <= to.saturating_add(skew));
        until.saturating_sub(before) as i64
    }

    /// Whether a record that was delivered `count` times at `from` may have no delivery left by `to`: each member that went may have
    /// taken one with it.
    pub fn may_be_used_up(&self, count: i64, from: Nanos, to: Nanos) -> bool {
        count.saturating_add(self.gone_within(from, to)) >= self.settings.delivery_limit
    }

    /// When a member went, at `from` or later.
    pub fn gone_of(&self, member: Name, from: Nanos) -> Option<Nanos> {
        let gone = self.members?.gone_of.get(&member)?;
        gone.get(gone.partition_point(|&t| t < from)).copied()
    }

    /// Whether another leader may have taken over within a time.
    pub fn failed_over(&self, from: Nanos, to: Nanos) -> bool {
        self.failovers
            .iter()
            .any(|failover| failover.to >= from && failover.from <= to)
    }

    /// Whether the log start passes the record at any time: its move may be seen late.
    pub fn may_be_gone(&self, offset: i64) -> bool {
        self.retained.iter().any(|&(from, _)| from > offset)
    }

    /// Which era a time belongs to.
    pub fn era_of(&self, t: Nanos) -> usize {
        self.eras.partition_point(|era| era.to < t)
    }

    /// Which eras the step of a request may belong to.
    pub fn eras_of(&self, sent: Nanos, t: Nanos) -> RangeInclusive<usize> {
        eras_of(&self.eras, sent, t, self.settings.skew)
    }

    /// Which era the step of a request belongs to; `None` if it may be on either side of a reset.
    pub fn only_era_of(&self, sent: Nanos, t: Nanos) -> Option<usize> {
        only(&self.eras_of(sent, t))
    }

    /// Which era an answer that shows state belongs to; `None` if it may be of either side of a reset.
    pub fn era_of_view(&self, t: Nanos, view: &View) -> Option<usize> {
        era_of_view(&self.eras, t, view, self.settings.skew)
    }

    pub fn violation(
        &self,
        check: Check,
        span: Option<Span>,
        text: &'static str,
        mut excerpt: Vec<u32>,
    ) -> Violation {
        excerpt.sort_unstable();
        excerpt.dedup();
        Violation {
            check,
            group: self.group,
            topic: self.topic,
            partition: self.partition,
            span,
            text,
            excerpt,
        }
    }

    fn make_eras(&self) -> Vec<Era> {
        let mut eras = vec![Era {
            reset: None,
            state_epoch: None,
            from: Nanos::MIN,
            to: Nanos::MAX,
            rises: Vec::new(),
            lows: Vec::new(),
        }];
        for &at in &self.events.resets {
            let event = self.event(at);
            if let What::Reset {
                start_offset,
                state_epoch,
            } = event.what
            {
                if let Some(last) = eras.last_mut() {
                    last.to = event.t;
                }
                eras.push(Era {
                    reset: Some((at, start_offset)),
                    state_epoch: Some(state_epoch),
                    from: event.t,
                    to: Nanos::MAX,
                    rises: Vec::new(),
                    lows: Vec::new(),
                });
            }
        }
        let mut rises = HashMap::<usize, Vec<(i64, Nanos, u32)>>::new();
        for (at, t, view) in self.views() {
            if let Some(offset) = view.start_offset
                && let Some(era) = era_of_view(&eras, t, view, self.settings.skew)
            {
                let list = rises.entry(era).or_default();
                if list.last().is_none_or(|&(highest, ..)| offset > highest) {
                    list.push((offset, t, at));
                }
            }
        }
        let mut lows = HashMap::<usize, Vec<(Nanos, i64)>>::new();
        for (_, t, grant) in self.grants() {
            let Some(era) = only(&eras_of(&eras, grant.sent, t, self.settings.skew)) else {
                continue;
            };
            let list = lows.entry(era).or_default();
            if list
                .last()
                .is_none_or(|&(_, lowest)| grant.span.first < lowest)
            {
                list.push((t, grant.span.first));
            }
        }
        for (number, era) in eras.iter_mut().enumerate() {
            era.rises = rises.remove(&number).unwrap_or_default();
            era.lows = lows.remove(&number).unwrap_or_default();
        }
        eras
    }

    fn make_failovers(&self) -> Vec<Failover> {
        let mut failovers = Vec::new();
        // The highest epoch, and when it was last asked for and not exceeded.
        let mut known: Option<(i64, Nanos)> = None;
        for (_, t, view) in self.views() {
            let Some(epoch) = view.leader_epoch else {
                continue;
            };
            match &mut known {
                Some((highest, since)) if epoch == *highest => *since = (*since).max(view.sent),
                Some((highest, since)) if epoch > *highest => {
                    failovers.push(Failover {
                        from: since.saturating_sub(self.settings.skew),
                        to: t.saturating_add(self.settings.skew),
                    });
                    known = Some((epoch, view.sent));
                }
                Some(_) => {}
                None => known = Some((epoch, view.sent)),
            }
        }
        failovers
    }
}
