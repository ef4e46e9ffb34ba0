//! Events of each record of a share partition; neighbours with the same events come together.

use crate::event::{AckType, Span, What};
use crate::record_events::{Acked, Granted, RecordEvents};
use crate::share_partition::SharePartition;

/// A range of one event.
#[derive(Clone, Copy, Debug)]
struct Touch {
    span: Span,
    event: u32,
    /// Type, if the event is an acknowledgement.
    kind: Option<AckType>,
}

/// Calls `judge` with the events of each record, in the order of their offsets; neighbours with the same events come together.
///
/// The cost is a sort of the ranges, and for each span of such neighbours the events in it.
pub fn each_record(partition: &SharePartition<'_>, mut judge: impl FnMut(&RecordEvents)) {
    let mut touches = touches(partition);
    let mut cuts: Vec<i64> = Vec::with_capacity(2 * touches.len());
    for touch in &touches {
        cuts.push(touch.span.first);
        cuts.extend(touch.span.last.checked_add(1));
    }
    for period in partition.periods.iter() {
        cuts.extend(period.start_offsets.offsets());
        cuts.extend(period.reset.map(|(_, offset)| offset));
    }
    cuts.extend(partition.log_start.offsets());
    cuts.sort_unstable();
    cuts.dedup();
    touches.sort_unstable_by_key(|touch| (touch.span.first, touch.event));

    let mut coming = touches.iter().peekable();
    // The touches of the current span, in the order of their events.
    let mut active: Vec<&Touch> = Vec::new();
    let mut record = RecordEvents::default();
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
        fill(&mut record, partition, Span { first, last }, &active);
        judge(&record);
    }
}

fn touches(partition: &SharePartition<'_>) -> Vec<Touch> {
    let mut touches = Vec::new();
    for &event in partition.log.map_or(&[][..], |log| &log.produces) {
        if let What::Produce(span) = partition.event(event).what {
            let kind = None;
            touches.push(Touch { span, event, kind });
        }
    }
    for (event, _, grant) in partition.grants() {
        touches.push(Touch {
            span: grant.span,
            event,
            kind: None,
        });
    }
    for &event in &partition.events.acks {
        if let What::Ack(ack) = partition.event(event).what {
            touches.extend(partition.history.ranges_of(&ack).iter().map(|range| Touch {
                span: range.span,
                event,
                kind: Some(range.kind),
            }));
        }
    }
    touches
}

fn fill(record: &mut RecordEvents, partition: &SharePartition<'_>, span: Span, active: &[&Touch]) {
    record.span = Some(span);
    record.produced = None;
    record.grants.clear();
    record.acks.clear();
    for touch in active {
        let event = partition.event(touch.event);
        match event.what {
            What::Produce(_) => {
                record.produced.get_or_insert((event.t, touch.event));
            }
            What::Grant(grant) => record.grants.push(Granted {
                t: event.t,
                sent: grant.sent,
                member: grant.member,
                count: grant.delivery_count,
                lock: grant.lock,
                period: partition.periods.only(grant.sent, event.t),
                event: touch.event,
            }),
            What::Ack(ack) => record.acks.push(Acked {
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
    record.arrange(partition);
}
