//! Reading a history: JSON, one event a line, in the order of `t`.

use core::fmt;
use std::borrow::Cow;

use serde::Deserialize;

use crate::event::{Ack, AckRange, AckType, Event, Grant, Nanos, Outcome, Place, Span, View, What};
use crate::history::History;
use crate::wrong_field::{Ranges, wrong_field};

/// Error of a line that is not one of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAHistory {
    /// The line, from 1.
    pub line: u64,
    /// The field; `None` where the line as a whole is no JSON object.
    pub field: Option<&'static str>,
    /// The fault, and what was expected.
    pub reason: String,
}

impl fmt::Display for NotAHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        if let Some(field) = self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.reason)
    }
}

impl core::error::Error for NotAHistory {}

/// Every field that an event may have.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    t: Option<i64>,
    sent: Option<i64>,
    #[serde(borrow)]
    group: Option<Cow<'a, str>>,
    #[serde(borrow)]
    topic: Option<Cow<'a, str>>,
    partition: Option<i32>,
    first: Option<i64>,
    last: Option<i64>,
    #[serde(borrow)]
    member: Option<Cow<'a, str>>,
    delivery_count: Option<i64>,
    lock_ms: Option<i64>,
    ranges: Option<Ranges>,
    #[serde(borrow)]
    outcome: Option<Cow<'a, str>>,
    start_offset: Option<i64>,
    leader_epoch: Option<i64>,
    state_epoch: Option<i64>,
    from: Option<i64>,
}

type Field<T> = Result<T, (Option<&'static str>, String)>;

/// Takes in a history line by line.
#[derive(Debug, Default)]
pub struct Reader {
    history: History,
    line: u64,
}

impl Reader {
    /// A reader of an empty history.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one line; an empty one says nothing.
    ///
    /// # Errors
    /// The line is not one of a history.
    pub fn line(&mut self, text: &[u8]) -> Result<(), NotAHistory> {
        self.line += 1;
        let text = text.trim_ascii();
        if text.is_empty() {
            return Ok(());
        }
        self.take(text).map_err(|(field, reason)| NotAHistory {
            line: self.line,
            field,
            reason,
        })
    }

    /// The history that was read.
    #[must_use]
    pub fn finish(self) -> History {
        self.history
    }

    fn take(&mut self, text: &[u8]) -> Field<()> {
        // The parser looks for it only in what it keeps.
        let text = str::from_utf8(text).map_err(|_| (None, "not a JSON object".to_owned()))?;
        let line: Line<'_> =
            serde_json::from_str(text).map_err(|error| wrong_field(text, &error))?;
        let t = required("t", line.t)?;
        if let Some(before) = self.history.events.last()
            && t < before.t
        {
            let reason = format!("{t} is before {} of an earlier line", before.t);
            return Err((Some("t"), reason));
        }
        let kind = required("type", line.kind.as_deref())?;
        let what = self.what(kind, t, &line)?;
        let (needs_group, needs_partition) = match what {
            What::Produce(_) | What::Retained { .. } => (false, true),
            What::Grant(_) | What::Ack(_) | What::View(_) | What::Reset { .. } => (true, true),
            What::Gone { .. } => (true, false),
            What::Drained => (false, false),
        };
        if needs_group {
            required("group", line.group.as_deref())?;
        }
        if needs_partition {
            required("topic", line.topic.as_deref())?;
            required("partition", line.partition)?;
        }
        let partition = line
            .partition
            .map(|found| at_least_zero("partition", found.into()));
        let partition = partition
            .transpose()?
            .and_then(|found| i32::try_from(found).ok());
        let names = &mut self.history.names;
        let place = Place {
            group: line.group.as_deref().map(|group| names.number(group)),
            topic: line.topic.as_deref().map(|topic| names.number(topic)),
            partition,
        };
        self.history.events.push(Event { t, place, what });
        Ok(())
    }

    fn what(&mut self, kind: &str, t: Nanos, line: &Line<'_>) -> Field<What> {
        let sent = || -> Field<Nanos> {
            let sent = required("sent", line.sent)?;
            if sent > t {
                return Err((Some("sent"), format!("{sent} is after t, {t}")));
            }
            Ok(sent)
        };
        let member = required("member", line.member.as_deref());
        Ok(match kind {
            "produce" => What::Produce(span(line.first, line.last)?),
            "grant" => What::Grant(Grant {
                sent: sent()?,
                member: self.history.names.number(member?),
                span: span(line.first, line.last)?,
                delivery_count: required("delivery_count", line.delivery_count)?,
                lock: at_least_zero("lock_ms", required("lock_ms", line.lock_ms)?)?
                    .saturating_mul(1_000_000),
            }),
            "ack" => {
                let word = required("outcome", line.outcome.as_deref())?;
                let Some(outcome) = Outcome::from_word(word) else {
                    let reason = format!("{word:?}; expected ok, refused or unknown");
                    return Err((Some("outcome"), reason));
                };
                What::Ack(Ack {
                    sent: sent()?,
                    member: self.history.names.number(member?),
                    ranges: self.ranges(required("ranges", line.ranges.as_deref())?)?,
                    outcome,
                })
            }
            "gone" => What::Gone {
                member: self.history.names.number(member?),
            },
            "view" => What::View(View {
                sent: if line.sent.is_some() { sent()? } else { t },
                // -1 is Kafka's word for what is not known.
                start_offset: line.start_offset.filter(|&offset| offset >= 0),
                leader_epoch: line.leader_epoch.filter(|&epoch| epoch >= 0),
                state_epoch: line.state_epoch.filter(|&epoch| epoch >= 0),
            }),
            "retained" => What::Retained {
                from: at_least_zero("from", required("from", line.from)?)?,
            },
            "reset" => What::Reset {
                start_offset: required("start_offset", line.start_offset)?,
                state_epoch: required("state_epoch", line.state_epoch)?,
            },
            "drained" => What::Drained,
            other => {
                let reason = format!(
                    "{other:?}; expected produce, grant, ack, gone, view, retained, reset or drained"
                );
                return Err((Some("type"), reason));
            }
        })
    }

    fn ranges(&mut self, ranges: &[(i64, i64, i64)]) -> Field<(u32, u32)> {
        let from = self.history.ranges.len();
        for &(first, last, kind) in ranges {
            if first < 0 || last < first {
                let reason = format!("{first} to {last}; expected 0 <= first <= last");
                return Err((Some("ranges"), reason));
            }
            let Some(kind) = AckType::from_id(kind) else {
                let reason = format!("acknowledge type {kind}; expected 0 to 4");
                return Err((Some("ranges"), reason));
            };
            let span = Span { first, last };
            self.history.ranges.push(AckRange { span, kind });
        }
        let number = |at: usize| {
            u32::try_from(at).map_err(|_| (Some("ranges"), "more than 2^32 in one history".into()))
        };
        Ok((number(from)?, number(self.history.ranges.len())?))
    }
}

fn required<T>(field: &'static str, found: Option<T>) -> Field<T> {
    found.ok_or_else(|| (Some(field), "missing".into()))
}

fn at_least_zero(field: &'static str, found: i64) -> Field<i64> {
    if found < 0 {
        return Err((Some(field), format!("{found}; expected >= 0")));
    }
    Ok(found)
}

fn span(first: Option<i64>, last: Option<i64>) -> Field<Span> {
    let first = at_least_zero("first", required("first", first)?)?;
    let last = required("last", last)?;
    if last < first {
        return Err((Some("last"), format!("{last}; expected >= first, {first}")));
    }
    Ok(Span { first, last })
}
