//! The lives of all records of a share partition. Neighbours with the same events have the same life.

use crate::event::{AckType, Span, What};
use crate::life::{Acked, Granted, Life};
use crate::scene::Scene;

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
    for era in scene.eras.iter() {
        cuts.extend(era.rises.offsets());
        cuts.extend(era.reset.map(|(_, offset)| offset));
    }
    cuts.extend(scene.log_start.offsets());
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
                era: scene.eras.only(grant.sent, event.t),
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
                denied_by: None,
            }),
            _ => {}
        }
    }
    life.arrange(scene);
}
