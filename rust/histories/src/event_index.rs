//! The events of a history, sorted into share partitions, logs and groups.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use crate::event::{Event, Name, Nanos, Outcome, Place, What};
use crate::history::History;
use crate::intervals::earliest_from_each;

/// A partition of a topic.
pub type LogKey = (Name, i32);

/// A history by what its events concern. Events are positions in the history, in ascending order.
#[derive(Debug, Default)]
pub struct EventIndex {
    /// Events by group, topic and partition.
    pub share_partitions: BTreeMap<(Name, Name, i32), SharePartitionEvents>,
    /// Events by topic and partition.
    pub logs: BTreeMap<LogKey, LogEvents>,
    /// Events by group.
    pub groups: BTreeMap<Name, GroupEvents>,
    /// Every `drained`.
    pub drained: Vec<u32>,
    /// The longest time from a request to its answer.
    pub longest_wait: Nanos,
    /// The longest lock.
    pub longest_lock: Nanos,
}

/// The events of a share partition.
#[derive(Debug, Default)]
pub struct SharePartitionEvents {
    /// Records that members were given.
    pub grants: Vec<u32>,
    /// Acknowledgements.
    pub acks: Vec<u32>,
    /// Answers that show state.
    pub views: Vec<u32>,
    /// Resets.
    pub resets: Vec<u32>,
}

/// The events of a log.
#[derive(Debug, Default)]
pub struct LogEvents {
    /// Records that were produced.
    pub produces: Vec<u32>,
    /// Moves of the log start.
    pub retained: Vec<u32>,
}

/// The members of a group.
#[derive(Debug, Default)]
pub struct GroupEvents {
    /// Times at which members went, in order.
    pub gone: Vec<Nanos>,
    /// Times at which each member went, in order.
    pub gone_of: HashMap<Name, Vec<Nanos>>,
    /// Times at which the first request of each member left, and the first one after it went, each with how often it went before.
    pub came: HashMap<Name, Vec<(Nanos, usize)>>,
    /// Times at which each member ceased to wait for acknowledgements, in order, with the time at which the first of this one
    /// and those after it left: the connection may have been cut.
    pub cuts_of: HashMap<Name, Vec<(Nanos, Nanos)>>,
    /// Changes of the number of members that have to do with a topic, by topic, in order of their times.
    pub present: HashMap<Name, Vec<(Nanos, i32)>>,
}

impl EventIndex {
    /// Sorts the events of a history.
    #[must_use]
    pub fn of(history: &History) -> Self {
        let mut all = Self::default();
        let mut resets = Vec::<u32>::new();
        let mut there: HashMap<(Name, Name), BTreeSet<Name>> = HashMap::new();
        for (at, event) in (0..).zip(&history.events) {
            all.take(at, event, &mut resets);
            all.member(event, &mut there);
            let wait = event.t.saturating_sub(event.sent());
            all.longest_wait = all.longest_wait.max(wait);
            if let What::Grant(grant) = event.what {
                all.longest_lock = all.longest_lock.max(grant.lock);
            }
        }
        all.add_drained(history);
        for group in all.groups.values_mut() {
            // A member is there from its first request on, which left before its answer came.
            for present in group.present.values_mut() {
                present.sort_unstable();
            }
            for cuts in group.cuts_of.values_mut() {
                earliest_from_each(cuts.iter_mut().map(|(_, sent)| sent));
            }
        }
        for reset in resets {
            let place = history.events.get(reset as usize).map(|event| event.place);
            let Some((group, place)) = place.and_then(|place| Some((place.group?, place))) else {
                continue;
            };
            for (key, events) in all
                .share_partitions
                .range_mut(share_partitions(group, place))
            {
                if place.partition.is_none_or(|wanted| wanted == key.2) {
                    events.resets.push(reset);
                }
            }
        }
        all
    }

    /// Adds the share partitions that a drain concerns and of which nothing else tells: all partitions of a topic that the
    /// group has to do with, and of every topic where it has to do with none.
    fn add_drained(&mut self, history: &History) {
        let drained = self.drained.iter();
        let places =
            drained.filter_map(|&at| history.events.get(at as usize).map(|event| event.place));
        let mut more = Vec::new();
        for place in places.collect::<BTreeSet<_>>() {
            let groups: Vec<Name> = match place.group {
                Some(group) => vec![group],
                None => self.groups.keys().copied().collect(),
            };
            let logs = place
                .topic
                .map_or((Name::MIN, i32::MIN), |topic| (topic, i32::MIN))
                ..=place
                    .topic
                    .map_or((Name::MAX, i32::MAX), |topic| (topic, i32::MAX));
            for group in groups {
                let topics: BTreeSet<Name> = match place.topic {
                    Some(topic) => BTreeSet::from([topic]),
                    None => {
                        let own = self.share_partitions.range(share_partitions(group, place));
                        own.map(|((_, topic, _), _)| *topic).collect()
                    }
                };
                more.extend(self.logs.range(logs.clone()).filter_map(
                    |(&(topic, partition), _)| {
                        let named = place.partition.is_none_or(|wanted| wanted == partition);
                        let known = topics.is_empty() || topics.contains(&topic);
                        (named && known).then_some((group, topic, partition))
                    },
                ));
            }
        }
        for key in more {
            self.share_partitions.entry(key).or_default();
        }
    }

    fn take(&mut self, at: u32, event: &Event, resets: &mut Vec<u32>) {
        let place = event.place;
        if let (Some(topic), Some(partition)) = (place.topic, place.partition) {
            let log = self.logs.entry((topic, partition)).or_default();
            match event.what {
                What::Produce(_) => log.produces.push(at),
                What::Retained { .. } => log.retained.push(at),
                _ => {}
            }
            if let Some(group) = place.group {
                let key = (group, topic, partition);
                let own = self.share_partitions.entry(key).or_default();
                match event.what {
                    What::Grant(_) => own.grants.push(at),
                    What::Ack(_) => own.acks.push(at),
                    What::View(_) => own.views.push(at),
                    _ => {}
                }
            }
        }
        match event.what {
            What::Reset { .. } => resets.push(at),
            What::Drained => self.drained.push(at),
            _ => {}
        }
    }

    fn member(&mut self, event: &Event, there: &mut HashMap<(Name, Name), BTreeSet<Name>>) {
        let (Some(group), Some(member)) = (event.place.group, event.member()) else {
            return;
        };
        let own = self.groups.entry(group).or_default();
        if let What::Ack(ack) = event.what
            && ack.outcome == Outcome::Unknown
        {
            let cuts = own.cuts_of.entry(member).or_default();
            cuts.push((event.t, ack.sent));
        }
        // A member reads the topics that it is seen to read.
        let topics = there.entry((group, member)).or_default();
        if let What::Gone { member } = event.what {
            own.gone.push(event.t);
            own.gone_of.entry(member).or_default().push(event.t);
            for topic in std::mem::take(topics) {
                own.present.entry(topic).or_default().push((event.t, -1));
            }
        } else if let Some(topic) = event.place.topic.filter(|topic| !topics.contains(topic)) {
            if topics.is_empty() {
                let gone = own.gone_of.get(&member).map_or(0, Vec::len);
                own.came
                    .entry(member)
                    .or_default()
                    .push((event.sent(), gone));
            }
            topics.insert(topic);
            own.present
                .entry(topic)
                .or_default()
                .push((event.sent(), 1));
        }
    }
}

/// The share partitions of a group that an event may concern: it may be one of a whole topic, or of all that the group has.
fn share_partitions(group: Name, place: Place) -> RangeInclusive<(Name, Name, i32)> {
    let topics = place
        .topic
        .map_or((Name::MIN, Name::MAX), |topic| (topic, topic));
    (group, topics.0, i32::MIN)..=(group, topics.1, i32::MAX)
}
