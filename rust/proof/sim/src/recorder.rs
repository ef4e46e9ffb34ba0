//! The history of what the clients saw, for the checker.

use share_state_histories::{
    Ack, AckRange, AckType, Event, Grant, History, Name, Names, Outcome, Place, Span, View, What,
};

/// See the module. Times are microseconds of the world.
#[derive(Debug)]
pub struct Recorder {
    events: Vec<Event>,
    ranges: Vec<AckRange>,
    names: Names,
    group: Name,
    topic: Name,
}

/// A range of offsets and how it is acknowledged, by Kafka's id.
pub type Said = (i64, i64, i8);

const NANOS: i64 = 1_000;

impl Default for Recorder {
    fn default() -> Self {
        let mut names = Names::default();
        let (group, topic) = (names.number("g"), names.number("t"));
        Self {
            events: Vec::new(),
            ranges: Vec::new(),
            names,
            group,
            topic,
        }
    }
}

impl Recorder {
    /// The number of a member's name.
    pub fn name(&mut self, member: &str) -> Name {
        self.names.number(member)
    }

    fn of_group(&self, partition: usize) -> Place {
        Place {
            group: Some(self.group),
            ..self.of_log(partition)
        }
    }

    fn of_log(&self, partition: usize) -> Place {
        Place {
            group: None,
            topic: Some(self.topic),
            partition: i32::try_from(partition).ok(),
        }
    }

    fn put(&mut self, t: i64, place: Place, what: What) {
        let t = t * NANOS;
        self.events.push(Event { t, place, what });
    }

    /// Records were committed.
    pub fn produced(&mut self, t: i64, partition: usize, first: i64, last: i64) {
        let what = What::Produce(Span { first, last });
        self.put(t, self.of_log(partition), what);
    }

    /// A member was given records.
    pub fn granted(
        &mut self,
        (sent, t): (i64, i64),
        partition: usize,
        member: Name,
        (first, last, count): (i64, i64, i16),
        lock_ms: i64,
    ) {
        let what = What::Grant(Grant {
            sent: sent * NANOS,
            member,
            span: Span { first, last },
            delivery_count: count.into(),
            lock: lock_ms * 1_000 * NANOS,
        });
        self.put(t, self.of_group(partition), what);
    }

    /// A member acknowledged.
    pub fn acknowledged(
        &mut self,
        (sent, t): (i64, i64),
        partition: usize,
        member: Name,
        said: &[Said],
        outcome: Outcome,
    ) {
        let from = u32::try_from(self.ranges.len()).unwrap_or(u32::MAX);
        self.ranges
            .extend(said.iter().map(|&(first, last, kind)| AckRange {
                span: Span { first, last },
                kind: AckType::from_id(kind.into()).unwrap_or(AckType::Gap),
            }));
        let to = u32::try_from(self.ranges.len()).unwrap_or(u32::MAX);
        let what = What::Ack(Ack {
            sent: sent * NANOS,
            member,
            ranges: (from, to),
            outcome,
        });
        self.put(t, self.of_group(partition), what);
    }

    /// A member is gone, or what it was given has been lost on the way.
    pub fn gone(&mut self, t: i64, member: Name) {
        let place = Place {
            group: Some(self.group),
            ..Place::default()
        };
        self.put(t, place, What::Gone { member });
    }

    /// The store has shown its state.
    pub fn viewed(
        &mut self,
        (sent, t): (i64, i64),
        partition: usize,
        (start_offset, leader_epoch, state_epoch): (i64, Option<i32>, i32),
    ) {
        let what = What::View(View {
            sent: sent * NANOS,
            start_offset: (start_offset >= 0).then_some(start_offset),
            leader_epoch: leader_epoch.map(i64::from),
            state_epoch: Some(state_epoch.into()),
        });
        self.put(t, self.of_group(partition), what);
    }

    /// The log start moved.
    pub fn retained(&mut self, t: i64, partition: usize, from: i64) {
        self.put(t, self.of_log(partition), What::Retained { from });
    }

    /// The offsets were reset.
    pub fn reset(&mut self, t: i64, partition: usize, start_offset: i64, state_epoch: i32) {
        let what = What::Reset {
            start_offset,
            state_epoch: state_epoch.into(),
        };
        self.put(t, self.of_group(partition), what);
    }

    /// Nothing more is to be delivered.
    pub fn drained(&mut self, t: i64) {
        let place = Place {
            group: Some(self.group),
            ..Place::default()
        };
        self.put(t, place, What::Drained);
    }

    /// The history, in the order of its times.
    pub fn finish(mut self) -> History {
        self.events.sort_by_key(|event| event.t);
        History {
            events: self.events,
            ranges: self.ranges,
            names: self.names,
        }
    }
}
