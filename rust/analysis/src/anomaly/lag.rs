//! A lag that grows from measurement to measurement of the log end offset.
//!
//! The lag is Kafka's: log end offset - start offset - delivery complete count, not known while one of the two is not.

use share_state_core::history::{At, Standing};

use super::config::Sample;
use super::context::Context;
use super::row::{Anomaly, Found};
use super::{AnomalyKind, Mark, Severity};

/// A lag, when it was measured.
#[derive(Clone, Copy, Debug)]
struct Measured {
    ms: i64,
    records: i64,
}

/// The measurements since the lag fell last.
#[derive(Clone, Copy, Debug)]
struct Growth {
    first: Measured,
    last: Measured,
    /// Offset of the record of the state topic that stood last at the first of them.
    offset: i64,
}

/// Follows the lag of one share partition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lag {
    /// Number of measurements that have been looked at, or lie before all that is known.
    used: usize,
    growth: Option<Growth>,
}

impl Lag {
    /// Passes over the measurements before `ms`.
    pub fn behind(samples: &[Sample], ms: i64) -> Self {
        Self {
            used: samples.partition_point(|sample| sample.timestamp < ms),
            growth: None,
        }
    }

    /// Looks at the measurements before the record at `next` changes `standing`, which stands since `at`; at all that are left
    /// when no record comes.
    pub fn measure(
        &mut self,
        on: Context<'_>,
        samples: &[Sample],
        standing: &Standing,
        at: At,
        next: Option<At>,
        out: &mut Vec<Anomaly>,
    ) {
        let due = samples.get(self.used..).unwrap_or_default();
        let due = due
            .iter()
            .take_while(|sample| next.is_none_or(|next| sample.timestamp < next.timestamp));
        for sample in due {
            self.used += 1;
            let Some(records) = lag(standing, sample.end_offset) else {
                continue;
            };
            let measured = Measured {
                ms: sample.timestamp,
                records,
            };
            match &mut self.growth {
                Some(growth) if records >= growth.last.records => growth.last = measured,
                _ => {
                    self.over(on, Some(sample.timestamp), out);
                    self.growth = Some(Growth {
                        first: measured,
                        last: measured,
                        offset: at.offset,
                    });
                }
            }
        }
    }

    /// Tells of the growth that is over, or lasts when there is no `until`.
    pub fn over(&mut self, on: Context<'_>, until: Option<i64>, out: &mut Vec<Anomaly>) {
        let Some(Growth {
            first,
            last,
            offset,
        }) = self.growth.take()
        else {
            return;
        };
        let took = last.ms.saturating_sub(first.ms);
        let by = last.records.saturating_sub(first.records);
        if took < on.config.lag_ms || by < on.config.lag_records {
            return;
        }
        let found = Found {
            kind: AnomalyKind::GrowingLag,
            severity: Severity::Warning,
            range: None,
            since: Mark {
                offset,
                ms: first.ms,
            },
            until,
            evidence: format!(
                "the lag rose from {} to {} records in {took} ms and did not fall meanwhile",
                first.records, last.records
            ),
            advice: AnomalyKind::GrowingLag.advice(),
        };
        on.tell(found, out);
    }
}

/// Tells if a measurement after the last change found nothing that is not terminal.
pub(super) fn is_none_left(samples: &[Sample], standing: &Standing, since: At) -> bool {
    let last = samples.last();
    last.is_some_and(|last| {
        last.timestamp >= since.timestamp && lag(standing, last.end_offset) == Some(0)
    })
}

/// The lag in records; at least 0, for a measurement may be older than the record.
fn lag(standing: &Standing, end_offset: i64) -> Option<i64> {
    let Standing {
        start_offset,
        delivery_complete_count,
        ..
    } = *standing;
    (start_offset >= 0 && delivery_complete_count >= 0).then(|| {
        end_offset
            .saturating_sub(start_offset)
            .saturating_sub(i64::from(delivery_complete_count))
            .max(0)
    })
}
