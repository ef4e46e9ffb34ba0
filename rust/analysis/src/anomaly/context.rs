//! Context of the rules: the share partition, the thresholds, and the way to tell of an anomaly.

use share_state_core::ids::SharePartitionKey;
use share_state_core::offset::OffsetRange;

use super::config::{AnomalyConfig, Beside};
use super::limit::Limits;
use super::row::{Anomaly, Found};
use super::{AnomalyKind, Mark, Severity};

/// Something that has begun and is told when it is over.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub since: Mark,
    pub range: Option<OffsetRange>,
    pub evidence: String,
    pub advice: &'static str,
}

/// Context of the rules of one share partition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub config: &'a AnomalyConfig,
    pub beside: &'a Beside,
    pub key: &'a SharePartitionKey,
    pub state_partition: u32,
    pub limits: &'a Limits,
}

impl Context<'_> {
    pub fn tell(&self, found: Found, out: &mut Vec<Anomaly>) {
        out.push(found.of(self.key, self.state_partition));
    }

    /// Tells of something that has begun before; `until` is `None` if it lasts.
    pub fn tell_open(
        &self,
        kind: AnomalyKind,
        open: Option<Box<Open>>,
        until: Option<i64>,
        out: &mut Vec<Anomaly>,
    ) {
        let Some(open) = open else {
            return;
        };
        let severity = if until.is_none() {
            Severity::Critical
        } else {
            Severity::Warning
        };
        let found = Found {
            kind,
            severity,
            range: open.range,
            since: open.since,
            until,
            evidence: open.evidence,
            advice: open.advice,
        };
        self.tell(found, out);
    }
}
