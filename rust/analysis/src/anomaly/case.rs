//! Case against some records, in words.

use share_state_core::offset::OffsetRange;

use super::burst::ms_between;
use super::config::{AnomalyConfig, KAFKA_LEAST_LOCK_MS};
use super::row::Found;
use super::suspicion::{GivenUp, Suspicion, What};
use super::{AnomalyKind, Severity, advice};

/// Case of one suspicion, or of those of a burst.
#[derive(Clone, Debug)]
pub(super) struct Case<'a> {
    pub of: Vec<&'a Suspicion>,
    pub is_burst: bool,
}

/// Settings that the evidence of a group is told with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    pub config: &'a AnomalyConfig,
    pub group: &'a str,
    pub limit: i64,
}

/// Records of a case, each run with its place in [`Case::of`].
pub(super) type Records = [(OffsetRange, usize)];

impl Case<'_> {
    /// The likeliest cause of what befell a record comes first, before what it brought about; what still lasts comes before all.
    pub fn rank(&self) -> u8 {
        let lasts = self.of.first().is_some_and(|first| first.until.is_none());
        match self.kind() {
            AnomalyKind::StartOffsetStuck if lasts => 0,
            AnomalyKind::ArchiveBurst => 1,
            AnomalyKind::PoisonRecord => 2,
            AnomalyKind::LockExpiryLoop => 3,
            AnomalyKind::LateOrPoison => 4,
            AnomalyKind::StartOffsetStuck => 5,
            _ => 6,
        }
    }

    pub fn kind(&self) -> AnomalyKind {
        match self.of.first() {
            Some(first) if !self.is_burst => first.kind(),
            _ => AnomalyKind::ArchiveBurst,
        }
    }

    /// Tells of those records, `also` with what else is said against them.
    pub fn found(&self, words: Words<'_>, records: &Records, also: &str) -> Option<Found> {
        let (first, last) = (self.of.first()?, self.of.last()?);
        let firsts = records.iter().map(|(range, _)| range.first);
        let lasts = records.iter().map(|(range, _)| range.last);
        let kind = self.kind();
        let severity = match kind {
            AnomalyKind::ArchiveBurst => Severity::Critical,
            AnomalyKind::StartOffsetStuck if first.until.is_none() => Severity::Critical,
            AnomalyKind::LockExpiryLoop if first.until.is_none() || first.is_lost() => {
                Severity::Critical
            }
            AnomalyKind::Gap => Severity::Info,
            _ => Severity::Warning,
        };
        let told = match &first.what {
            What::Holds { advice, .. } => advice,
            _ if self.is_burst
                && 2 * length(&self.uncertain(records)) > length(&ranges(records)) =>
            {
                advice::LATE_BURST
            }
            _ => kind.advice(),
        };
        Some(Found {
            kind,
            severity,
            range: OffsetRange::new(firsts.min()?, lasts.max()?),
            since: first.since,
            until: last.until,
            evidence: self.evidence(words, records) + also,
            advice: told,
        })
    }

    /// Returns what the log shows of those records.
    pub fn evidence(&self, words: Words<'_>, records: &Records) -> String {
        let all = ranges(records);
        match self.of.first().map(|first| &first.what) {
            _ if self.is_burst => self.burst(words, records),
            Some(What::GivenUp(given_up)) => words.given_up(*given_up, &all),
            Some(What::Loop { times, count, .. }) => words.looped(*times, *count, &all),
            Some(What::Holds { evidence, .. }) => evidence.clone(),
            Some(What::Unknown { later, age_ms }) => format!(
                "nothing was ever written about {} offsets, although {later} after them has been known for {age_ms} ms",
                length(&all)
            ),
            None => String::new(),
        }
    }

    fn burst(&self, words: Words<'_>, records: &Records) -> String {
        let all = ranges(records);
        let took = match (self.of.first(), self.of.last()) {
            (Some(first), Some(last)) => ms_between(first, last),
            _ => 0,
        };
        let mut evidence = format!(
            "{} records were archived at the delivery limit within {took} ms: {}; {}",
            length(&all),
            list(&all),
            words.limit(),
        );
        let uncertain = self.uncertain(records);
        if uncertain == all {
            evidence += &format!("; of all of them {CANNOT_TELL}");
        } else if !uncertain.is_empty() {
            let (count, which) = (length(&uncertain), list(&uncertain));
            evidence += &format!("; of {count} of them ({which}) {CANNOT_TELL}");
        }
        evidence
    }

    /// Ranges of the records whose last lock may have run out.
    fn uncertain(&self, records: &Records) -> Vec<OffsetRange> {
        let is_uncertain = |at: &usize| {
            let one = self.of.get(*at).map(|one| &one.what);
            matches!(one, Some(What::GivenUp(given_up)) if given_up.lock_may_end)
        };
        let some = records.iter().copied().filter(|(_, at)| is_uncertain(at));
        ranges(&some.collect::<Vec<_>>())
    }
}

const CANNOT_TELL: &str = "the log cannot tell an acceptance that came too late from none";

impl Words<'_> {
    fn limit(self) -> String {
        let source = match self.config.limit(self.group) {
            Some(_) => "as configured",
            None => "by what the log shows of the group",
        };
        format!("the limit is {}, {source}", self.limit)
    }

    fn lock(self) -> String {
        match self.config.given_lock_ms(self.group) {
            Some(ms) => format!("the lock duration is {ms} ms"),
            None => {
                format!("the lock duration is not given, Kafka's least is {KAFKA_LEAST_LOCK_MS} ms")
            }
        }
    }

    fn given_up(self, given_up: GivenUp, all: &[OffsetRange]) -> String {
        let what = format!(
            "{} archived after {} deliveries; {}",
            were(all),
            given_up.count,
            self.limit()
        );
        let lock = self.lock();
        match (given_up.longest_ms, given_up.lock_may_end) {
            (Some(ms), false) => format!(
                "{what}; no delivery after the first took more than {ms} ms, too little for a lock to run out ({lock})"
            ),
            (Some(ms), true) => format!(
                "{what}; a delivery after the first may have taken {ms} ms, enough for a lock to run out ({lock}): {CANNOT_TELL}"
            ),
            (None, _) => {
                format!("{what}; earlier deliveries are not in the log: {CANNOT_TELL}")
            }
        }
    }

    fn looped(self, times: u64, count: i16, all: &[OffsetRange]) -> String {
        let lock_ms = self.config.loop_lock_ms(self.group);
        let source = match self.config.given_lock_ms(self.group) {
            Some(_) => "the lock duration",
            None => "Kafka's lock duration by default",
        };
        format!(
            "{} came back {times} times in a row after at least {lock_ms} ms, {source}, and count {count} deliveries",
            named(all)
        )
    }
}

/// The runs of records in order, those that lie side by side as one.
pub(super) fn ranges(records: &Records) -> Vec<OffsetRange> {
    let mut sorted: Vec<_> = records.iter().map(|(range, _)| *range).collect();
    sorted.sort_unstable_by_key(|range| range.first);
    sorted.dedup_by(|next, before| {
        let joins = before.is_followed_by(next.first);
        if joins {
            before.last = next.last;
        }
        joins
    });
    sorted
}

fn length(ranges: &[OffsetRange]) -> u128 {
    ranges.iter().map(|range| u128::from(range.len())).sum()
}

/// As people write them: `1-7, 9`.
pub(super) fn list(ranges: &[OffsetRange]) -> String {
    let texts = ranges.iter().map(|range| match range.len() {
        1 => range.first.to_string(),
        _ => range.to_string(),
    });
    texts.collect::<Vec<_>>().join(", ")
}

pub(super) fn named(ranges: &[OffsetRange]) -> String {
    let noun = if length(ranges) == 1 {
        "record"
    } else {
        "records"
    };
    format!("{noun} {}", list(ranges))
}

fn were(ranges: &[OffsetRange]) -> String {
    let verb = if length(ranges) == 1 { "was" } else { "were" };
    format!("{} {verb}", named(ranges))
}
