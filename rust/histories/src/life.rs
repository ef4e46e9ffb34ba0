//! The life of a record: every event that concerns it. Neighbours with the same events have the same life.

use crate::event::{AckType, Name, Nanos, Outcome, Span, What};
use crate::scene::{LINGERING, Scene};

/// What happened to the records of a span.
#[derive(Debug, Default)]
pub struct Life {
    pub span: Option<Span>,
    /// When they were produced, and the event.
    pub produced: Option<(Nanos, u32)>,
    /// In the order of their answers.
    pub grants: Vec<Granted>,
    /// In the order of their answers.
    pub acks: Vec<Acked>,
}

/// One delivery.
#[derive(Clone, Copy, Debug)]
pub struct Granted {
    pub t: Nanos,
    pub sent: Nanos,
    pub member: Name,
    pub count: i64,
    pub lock: Nanos,
    /// Between which resets it was, if that is known.
    pub era: Option<usize>,
    pub event: u32,
}

/// One acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    pub t: Nanos,
    pub sent: Nanos,
    pub member: Name,
    pub kind: AckType,
    pub outcome: Outcome,
    pub event: u32,
}

impl Acked {
    /// Whether the record may have ended with it.
    pub fn may_end(&self) -> bool {
        self.kind.is_terminal() && self.outcome != Outcome::Refused
    }

    /// When the server took it at the latest. One whose member waits no more may still be on its way.
    pub fn latest(&self) -> Nanos {
        if self.outcome == Outcome::Unknown {
            self.t.saturating_add(LINGERING)
        } else {
            self.t
        }
    }
}

impl Life {
    /// The first offset of the span.
    pub fn first(&self) -> i64 {
        self.span.map_or(0, |span| span.first)
    }

    /// Whether a delivery may be of this era, and may be of another.
    pub fn has_crossing(&self, scene: &Scene<'_>, era: usize) -> bool {
        self.crossing(scene, era).next().is_some()
    }

    /// How many of those may stand between two deliveries of this era, by their counts.
    pub fn crossing_between(
        &self,
        scene: &Scene<'_>,
        era: usize,
        before: &Granted,
        later: &Granted,
    ) -> i64 {
        let between = |grant: &&Granted| before.count < grant.count && grant.count < later.count;
        self.crossing(scene, era).filter(between).count() as i64
    }

    fn crossing<'a>(
        &'a self,
        scene: &'a Scene<'_>,
        era: usize,
    ) -> impl Iterator<Item = &'a Granted> {
        let unsure = self.grants.iter().filter(|grant| grant.era.is_none());
        unsure.filter(move |grant| scene.eras_of(grant.sent, grant.t).contains(&era))
    }
}

/// A range of one event.
#[derive(Clone, Copy, Debug)]
struct Touch {
    span: Span,
    event: u32,
    /// Of an acknowledgement.
    kind: Option<AckType>,
}

/// Calls `judge` with the life of each record, in the order of their offsets; neighbours of one life come together.
///
/// The cost is a sort of the ranges, and for each span of one life the events in it.
pub fn each_life(scene: &Scene<'_>, mut judge: impl FnMut(&Life)) {
    let mut touches = touches(scene);
    let mut cuts: Vec<i64> = Vec::with_capacity(2 * touches.len());
    for touch in &touches {
        cuts.push(touch.span.first);
        cuts.extend(touch.span.last.checked_add(1));
    }
    for era in &scene.eras {
        cuts.extend(era.rises.iter().map(|&(offset, ..)| offset));
        cuts.extend(era.reset.map(|(_, offset)| offset));
    }
    cuts.extend(scene.retained.iter().map(|&(from, _)| from));
    cuts.sort_unstable();
    cuts.dedup();
    touches.sort_unstable_by_key(|touch| (touch.span.first, touch.event));

    let mut coming = touches.iter().peekable();
    // The touches of the current span, in the order of their events.
    let mut active: Vec<&Touch> = Vec::new();
    let mut life = Life::default();
    for (at, &first) in cuts.iter().enumerate() {
        active.retain(|touch| touch.span.last >= first);
        while let Some(touch) = coming.next_if(|touch| touch.span.first == first) {
            let place = active.partition_point(|other| other.event <= touch.event);
            active.insert(place, touch);
        }
        if active.is_empty() {
            continue;
        }
        let next = cuts.get(at + 1);
        let last = next.map_or(i64::MAX, |next| next - 1);
        fill(&mut life, scene, Span { first, last }, &active);
        judge(&life);
    }
}

fn touches(scene: &Scene<'_>) -> Vec<Touch> {
    let mut touches = Vec::new();
    for &event in scene.log.map_or(&[][..], |log| &log.produces) {
        if let What::Produce(span) = scene.event(event).what {
            let kind = None;
            touches.push(Touch { span, event, kind });
        }
    }
    for (event, _, grant) in scene.grants() {
        touches.push(Touch {
            span: grant.span,
            event,
            kind: None,
        });
    }
    for &event in &scene.events.acks {
        if let What::Ack(ack) = scene.event(event).what {
            touches.extend(scene.history.ranges_of(&ack).iter().map(|range| Touch {
                span: range.span,
                event,
                kind: Some(range.kind),
            }));
        }
    }
    touches
}

fn fill(life: &mut Life, scene: &Scene<'_>, span: Span, active: &[&Touch]) {
    life.span = Some(span);
    life.produced = None;
    life.grants.clear();
    life.acks.clear();
    for touch in active {
        let event = scene.event(touch.event);
        match event.what {
            What::Produce(_) => {
                life.produced.get_or_insert((event.t, touch.event));
            }
            What::Grant(grant) => life.grants.push(Granted {
                t: event.t,
                sent: grant.sent,
                member: grant.member,
                count: grant.delivery_count,
                lock: grant.lock,
                era: scene.only_era_of(grant.sent, event.t),
                event: touch.event,
            }),
            What::Ack(ack) => life.acks.push(Acked {
                t: event.t,
                sent: ack.sent,
                member: ack.member,
                // Every touch of an acknowledgement has its type.
                kind: touch.kind.unwrap_or(AckType::Renew),
                outcome: ack.outcome,
                event: touch.event,
            }),
            _ => {}
        }
    }
}

/// Whether the start offset may have passed the record by `until`, without the acknowledgement `but`.
///
/// Below the start offset an acknowledgement is confirmed and changes nothing, whoever sends it.
pub fn may_have_passed(scene: &Scene<'_>, life: &Life, but: u32, until: Nanos) -> bool {
    let by_then = until.saturating_add(scene.settings.skew);
    let ended = || {
        life.acks
            .iter()
            .any(|ack| ack.event != but && ack.may_end() && ack.sent <= by_then)
    };
    let at_limit = || {
        let mut grants = life.grants.iter().filter(|grant| grant.sent <= by_then);
        grants.any(|grant| scene.may_be_used_up(grant.count, grant.sent, by_then))
    };
    scene.may_be_gone(life.first()) || ended() || at_limit()
}
