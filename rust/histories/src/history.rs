//! A history as it was read.

use crate::event::{AckRange, Event, Place, Span, What};
use crate::names::Names;

/// Number of ranges of an acknowledgement that an excerpt shows.
const SHOWN: usize = 16;

/// Events in the order of their times.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The events.
    pub events: Vec<Event>,
    /// The ranges of all acknowledgements, one after the other.
    pub ranges: Vec<AckRange>,
    /// Groups, topics and members.
    pub names: Names,
}

impl History {
    /// The ranges of an acknowledgement.
    #[must_use]
    pub fn ranges_of(&self, ack: &crate::event::Ack) -> &[AckRange] {
        let (from, to) = (ack.ranges.0 as usize, ack.ranges.1 as usize);
        self.ranges.get(from..to).unwrap_or(&[])
    }

    /// An event as a line of the history, JSON. Of an acknowledgement with many ranges it has those that concern `span`: an excerpt
    /// is no longer than the events that it is of.
    #[must_use]
    pub fn line(&self, event: &Event, span: Option<Span>) -> String {
        let mut line = String::new();
        let mut put = |name: &str, value: serde_json::Value| {
            line.push(if line.is_empty() { '{' } else { ',' });
            line.push_str(&format!("\"{name}\":{value}"));
        };
        let (kind, sent) = match event.what {
            What::Produce(_) => ("produce", None),
            What::Grant(grant) => ("grant", Some(grant.sent)),
            What::Ack(ack) => ("ack", Some(ack.sent)),
            What::Gone { .. } => ("gone", None),
            What::View(view) => ("view", Some(view.sent)),
            What::Retained { .. } => ("retained", None),
            What::Reset { .. } => ("reset", None),
            What::Drained => ("drained", None),
        };
        put("type", kind.into());
        put("t", event.t.into());
        if let Some(sent) = sent {
            put("sent", sent.into());
        }
        let Place {
            group,
            topic,
            partition,
        } = event.place;
        for (name, number) in [("group", group), ("topic", topic)] {
            if let Some(number) = number {
                put(name, self.names.text(number).into());
            }
        }
        if let Some(partition) = partition {
            put("partition", partition.into());
        }
        if let Some(member) = event.member() {
            put("member", self.names.text(member).into());
        }
        match event.what {
            What::Produce(span) => {
                put("first", span.first.into());
                put("last", span.last.into());
            }
            What::Grant(grant) => {
                put("first", grant.span.first.into());
                put("last", grant.span.last.into());
                put("delivery_count", grant.delivery_count.into());
                put("lock_ms", (grant.lock / 1_000_000).into());
            }
            What::Ack(ack) => {
                let all = self.ranges_of(&ack);
                let concerns = |range: &&AckRange| {
                    let other =
                        |span: Span| range.span.last < span.first || span.last < range.span.first;
                    all.len() <= SHOWN || !span.is_some_and(other)
                };
                let ranges: Vec<_> = all
                    .iter()
                    .filter(concerns)
                    .take(SHOWN)
                    .map(|range| [range.span.first, range.span.last, range.kind.id()].to_vec())
                    .collect();
                put("ranges", ranges.into());
                put("outcome", ack.outcome.word().into());
            }
            What::View(view) => {
                for (name, figure) in [
                    ("start_offset", view.start_offset),
                    ("leader_epoch", view.leader_epoch),
                    ("state_epoch", view.state_epoch),
                ] {
                    if let Some(figure) = figure {
                        put(name, figure.into());
                    }
                }
            }
            What::Retained { from } => put("from", from.into()),
            What::Reset {
                start_offset,
                state_epoch,
            } => {
                put("start_offset", start_offset.into());
                put("state_epoch", state_epoch.into());
            }
            What::Gone { .. } | What::Drained => {}
        }
        line.push('}');
        line
    }
}
