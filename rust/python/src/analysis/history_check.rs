//! Histories of what clients saw, checked.

use pyo3::prelude::*;
use share_state_histories::{
    History, Lateness, MILLI, NotAHistory, Reader, Report, Settings, Violation, check,
};

use crate::args::{Int, bytes};
use crate::errors::Raise;
use crate::locked::Locked;

/// Check, group, topic, partition, first and last offset, text, and the events as JSON.
type Found = (
    &'static str,
    String,
    String,
    i32,
    Option<i64>,
    Option<i64>,
    &'static str,
    Vec<String>,
);
/// Locks that ran out, and by how much the first and the last of them were late, in nanoseconds.
type Late = (u64, i64, i64);

/// A history of what clients of share groups saw, taken in line by line and then checked.
///
/// Memory is about that of the lines. A method waits for a call of another thread.
#[pyclass(frozen, module = "share_state")]
pub struct HistoryChecker {
    reader: Locked<Reader>,
}

#[pymethods]
impl HistoryChecker {
    #[new]
    fn new() -> Self {
        Self {
            reader: Locked::new("this HistoryChecker", Reader::new()),
        }
    }

    /// Take the next lines.
    ///
    /// Args:
    ///     lines: whole lines of JSON, in order.
    ///
    /// Raises:
    ///     NotAHistoryError: a line is none of a history; those before it were taken.
    fn take(&self, py: Python<'_>, #[pyo3(from_py_with = bytes)] lines: &[u8]) -> PyResult<()> {
        let taken = self.reader.detached(py, |reader| {
            let mut rest = lines;
            while !rest.is_empty() {
                let end = rest.iter().position(|&byte| byte == b'\n');
                let (line, later) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
                reader.line(line)?;
                rest = later;
            }
            Ok(())
        })?;
        taken.map_err(|error: NotAHistory| {
            Raise::new(py, "NotAHistoryError", &error)
                .fact("line", error.line)
                .fact("field", error.field)
                .done()
        })
    }

    /// Check what was taken, and begin again with an empty history.
    ///
    /// Args:
    ///     delivery_limit: the most deliveries of a record.
    ///     skew_ms: how far the clocks of two members may be apart, in ms.
    ///     within_ms: how long an available record may wait while members poll and nothing is locked, in ms.
    ///
    /// Returns:
    ///     The violations: check, group, topic, partition, first and last offset (`None` where it is about no record), what is
    ///     wrong, and the events that show it, JSON each. Then how many locks ran out, and the least and the greatest lateness in
    ///     ns. Then the number of share partitions, and of events.
    fn check(
        &self,
        py: Python<'_>,
        delivery_limit: Int<i64>,
        skew_ms: Int<i64>,
        within_ms: Int<i64>,
    ) -> PyResult<(Vec<Found>, Late, usize, usize)> {
        let settings = Settings {
            delivery_limit: delivery_limit.0,
            skew: skew_ms.0.saturating_mul(MILLI),
            within: within_ms.0.saturating_mul(MILLI),
        };
        self.reader.detached(py, |reader| {
            let history = core::mem::take(reader).finish();
            let Report {
                violations,
                lateness:
                    Lateness {
                        locks,
                        shortest,
                        longest,
                    },
                share_partitions,
            } = check(&history, &settings);
            let found = violations.iter().map(|one| found(&history, one)).collect();
            let events = history.events.len();
            (found, (locks, shortest, longest), share_partitions, events)
        })
    }
}

fn found(history: &History, violation: &Violation) -> Found {
    let events = violation.excerpt.iter();
    let lines = events.filter_map(|&at| history.events.get(at as usize));
    (
        violation.check.name(),
        history.names.text(violation.group).to_owned(),
        history.names.text(violation.topic).to_owned(),
        violation.partition,
        violation.span.map(|span| span.first),
        violation.span.map(|span| span.last),
        violation.text,
        lines
            .map(|event| history.line(event, violation.span))
            .collect(),
    )
}
