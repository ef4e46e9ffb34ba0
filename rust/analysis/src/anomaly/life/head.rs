//! Causes that keep a start offset from moving, and a window from growing.

use std::cmp::Ordering;

use share_state_core::offset::OffsetRange;

use super::{After, Life};
use crate::anomaly::advice::holder;
use crate::anomaly::context::Context;
use crate::anomaly::row::Anomaly;
use crate::anomaly::suspicion::{Suspicion, What};
use crate::anomaly::{AnomalyKind, Mark, Severity};

impl Life {
    pub(super) fn is_full(&self, on: Context<'_>) -> bool {
        let start = self.standing.start_offset;
        start >= 0 && self.window.width(start) >= on.config.record_locks(&on.key.group).0
    }

    pub(super) fn window_full(&self, on: Context<'_>, out: &mut Vec<Anomaly>) {
        // Another limit may be given by now.
        let Some(since) = self.full.filter(|_| self.is_full(on)) else {
            return;
        };
        let start = self.standing.start_offset;
        let (most, is_given) = on.config.record_locks(&on.key.group);
        let source = if is_given {
            "the limit"
        } else {
            "Kafka's limit by default"
        };
        let evidence = format!(
            "{} offsets from {start} on are in flight, and {source} is {most}",
            self.window.width(start)
        );
        let severity = if is_given {
            Severity::Critical
        } else {
            Severity::Warning
        };
        let mut found = self.found(AnomalyKind::WindowFull, severity, evidence);
        found.since = since;
        on.tell(found, out);
    }

    /// Compares what the leader has archived without a write (aborted records, in its memory) with the offsets
    /// of which nothing is written; `None` where a record is known that is not terminal, or the count is not known.
    pub(super) fn unknown_are_counted(&self) -> Option<Ordering> {
        let unknown = self
            .window
            .unknown_between_terminal(self.standing.start_offset)?;
        let count = u128::try_from(self.standing.delivery_complete_count).ok()?;
        let unwritten = count.checked_sub(self.window.terminal())?;
        (self.standing.start_offset >= 0).then(|| unwritten.cmp(&unknown))
    }

    pub(super) fn gaps(&self, on: Context<'_>, end: Mark, all: &mut Vec<Suspicion>) {
        let start = self.standing.start_offset;
        if start < 0 {
            return;
        }
        for (hole, after) in self.window.holes(start) {
            let told = after.value.first_told;
            let age = end.ms.saturating_sub(told.ms);
            if age < on.config.gap_ms {
                continue;
            }
            all.push(Suspicion {
                range: hole,
                since: told,
                until: None,
                what: What::Unknown {
                    later: after.range.first,
                    age_ms: age,
                },
            });
        }
    }

    /// Cause that holds the start offset; `None` if all is terminal, and the next write moves it.
    pub(super) fn held(&self, start: i64, After { since, records }: After) -> Option<Suspicion> {
        // More than those were archived without a write: which, the log does not tell. They are a gap then.
        if matches!(
            self.unknown_are_counted(),
            Some(Ordering::Equal | Ordering::Greater)
        ) {
            return None;
        }
        let (offset, held_by) = self.window.holder(start)?;
        let (held, advice) = holder(held_by);
        let stood = self.at.timestamp.saturating_sub(since.ms);
        let evidence = format!(
            "start offset {start} stood for {stood} ms while {records} records after it were released, accepted or archived; \
             {offset} holds it: {held}"
        );
        Some(Suspicion {
            range: OffsetRange::single(offset),
            since,
            until: None,
            what: What::Holds { evidence, advice },
        })
    }
}
