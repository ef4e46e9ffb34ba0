//! Suspicions against single records, before it is known which cause is the likeliest.

use share_state_core::history::{Cause, Delivery, HistoryRow};
use share_state_core::ids::SharePartitionKey;
use share_state_core::offset::OffsetRange;
use share_state_core::record_state::RecordState;

use super::config::AnomalyConfig;
use super::{AnomalyKind, Mark};

/// Something that is said against records.
#[derive(Clone, Debug)]
pub(super) struct Suspicion {
    pub range: OffsetRange,
    pub since: Mark,
    /// `None` if it lasts.
    pub until: Option<i64>,
    pub what: What,
}

/// Kind of suspicion.
#[derive(Clone, Debug)]
pub(super) enum What {
    GivenUp(GivenUp),
    /// Deliveries that ended about a lock duration apart.
    Loop {
        times: u64,
        count: i16,
        /// True if the last of them was the last of all: the record was archived.
        is_lost: bool,
    },
    /// It holds the start offset.
    Holds {
        evidence: String,
        advice: &'static str,
    },
    /// Nothing was ever written of them, though `later` is known for long.
    Unknown {
        later: i64,
        age_ms: i64,
    },
}

/// Records that may have been archived at the delivery limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GivenUp {
    pub count: i16,
    /// The longest time between two writes of them, ms; `None` if a delivery between is not in the log.
    pub longest_ms: Option<i64>,
    /// Set if a lock may have run out in that time.
    pub lock_may_end: bool,
    /// Set if the log holds the write, and so the time, with which they were archived.
    pub witnessed: bool,
}

impl GivenUp {
    /// Records that a row archives; `None` if it does not.
    pub fn by(row: &HistoryRow, longest_ms: Option<i64>, config: &AnomalyConfig) -> Option<Self> {
        let to = row.to.filter(|to| is_given_up(*to))?;
        let arrives = matches!(row.cause, Cause::Archived | Cause::Archiving | Cause::Found);
        let is_new = arrives && !row.from.is_some_and(is_given_up);
        is_new.then(|| Self {
            count: to.count,
            longest_ms,
            lock_may_end: config.lock_may_end(&row.key.group, longest_ms),
            witnessed: row.cause != Cause::Found,
        })
    }

    /// Both, where the two differ in nothing that is told but the time.
    fn joined(self, other: Self) -> Option<Self> {
        let longest_ms = self.longest_ms.max(other.longest_ms);
        let is_known = self.longest_ms.is_some() == other.longest_ms.is_some();
        let joined = Self { longest_ms, ..self };
        (is_known
            && joined
                == Self {
                    longest_ms,
                    ..other
                })
        .then_some(joined)
    }
}

fn is_given_up(delivery: Delivery) -> bool {
    matches!(
        RecordState::from_id(delivery.state),
        Some(RecordState::Archiving | RecordState::Archived)
    )
}

impl Suspicion {
    /// Returns `true` if it lasts, or was not over before.
    pub fn lasts_until(&self, since_ms: i64) -> bool {
        self.until.is_none_or(|until| until >= since_ms)
    }

    pub const fn kind(&self) -> AnomalyKind {
        match &self.what {
            What::GivenUp(given_up) if given_up.lock_may_end => AnomalyKind::LateOrPoison,
            What::GivenUp(_) => AnomalyKind::PoisonRecord,
            What::Loop { .. } => AnomalyKind::LockExpiryLoop,
            What::Holds { .. } => AnomalyKind::StartOffsetStuck,
            What::Unknown { .. } => AnomalyKind::Gap,
        }
    }

    /// Tells if it is a loop that ended with the loss of the records.
    pub const fn is_lost(&self) -> bool {
        matches!(self.what, What::Loop { is_lost: true, .. })
    }

    /// Records that were given up with a count that the limit allows no more.
    pub fn given_up(&self, limit: i64) -> Option<GivenUp> {
        match self.what {
            What::GivenUp(given_up) if i64::from(given_up.count) >= limit => Some(given_up),
            _ => None,
        }
    }
}

/// Suspicions of one share partition, from its initialisation to its deletion.
#[derive(Clone, Debug)]
pub(super) struct OfLife {
    pub key: SharePartitionKey,
    pub state_partition: u32,
    pub all: Vec<Suspicion>,
}

/// Adds one; records that one record of the state topic archives side by side are told together.
pub(super) fn push(all: &mut Vec<Suspicion>, next: Suspicion) {
    if let Some(last) = all.last_mut()
        && let (What::GivenUp(a), What::GivenUp(b)) = (&last.what, &next.what)
        && last.since == next.since
        && last.range.is_followed_by(next.range.first)
        && let Some(joined) = a.joined(*b)
    {
        last.what = What::GivenUp(joined);
        last.range.last = next.range.last;
        return;
    }
    all.push(next);
}
