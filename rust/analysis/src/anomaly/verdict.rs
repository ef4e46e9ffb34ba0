//! Verdict on each record: a finding with the likeliest cause, and what else is said against it.

use share_state_core::interval_tree::{IntervalTree, RunValue};
use share_state_core::offset::{OffsetRange, after, before};

use super::AnomalyKind;
use super::burst::{Part, parts};
use super::case::{Case, Words, named, ranges};
use super::config::AnomalyConfig;
use super::limit::Limits;
use super::row::{Anomaly, Found};
use super::suspicion::{OfLife, Suspicion, What};

/// The case that tells of a record: its place among the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Teller(usize);

impl RunValue for Teller {}

/// Share of a case in the findings.
#[derive(Clone, Debug, Default)]
struct Share {
    /// The records it tells of, each run with its place in the case.
    records: Vec<(OffsetRange, usize)>,
    /// Other cases against these records: the case, the records, and their place there.
    also: Vec<(usize, OffsetRange, usize)>,
}

/// Tells of the records of a share partition.
pub(super) fn tell(of: &OfLife, config: &AnomalyConfig, limits: &Limits, out: &mut Vec<Anomaly>) {
    let limit = limits.of(config, &of.key.group);
    let words = Words {
        config,
        group: &of.key.group,
        limit,
    };
    let cases = cases(&of.all, config, limit);
    let shares = shares(&cases);
    let mut found = Vec::new();
    for (case, share) in cases.iter().zip(shares) {
        let Share { records, mut also } = share;
        if case.is_burst {
            found.extend(finding(words, &cases, case, &records, &also));
            continue;
        }
        // Each is of one run, and the runs are in order.
        also.sort_by_key(|(_, range, _)| range.first);
        let mut rest = also.as_slice();
        for run in &records {
            let of_run = rest.partition_point(|(_, range, _)| range.first <= run.0.last);
            let (of_run, later) = rest.split_at(of_run);
            rest = later;
            found.extend(finding(words, &cases, case, &[*run], of_run));
        }
    }
    let first = |found: &Found| found.range.map_or(i64::MIN, |range| range.first);
    found.sort_by_key(|found| (found.since.offset, first(found)));
    out.extend(
        found
            .into_iter()
            .map(|found| found.of(&of.key, of.state_partition)),
    );
}

/// The cases, the likeliest cause first.
fn cases<'a>(all: &'a [Suspicion], config: &AnomalyConfig, limit: i64) -> Vec<Case<'a>> {
    let is_at_limit = |one: &&Suspicion| one.given_up(limit).is_some_and(|it| it.witnessed);
    let at_limit: Vec<_> = all.iter().filter(is_at_limit).collect();
    let mut cases: Vec<_> = parts(&at_limit, config)
        .into_iter()
        .map(|part| match part {
            Part::Single(one) => Case {
                of: vec![one],
                is_burst: false,
            },
            Part::Burst(of) => Case { of, is_burst: true },
        })
        .collect();
    // When the others were archived the log does not tell: they are in no burst.
    let others = all.iter().filter(|one| match one.what {
        What::GivenUp(_) => one.given_up(limit).is_some_and(|it| !it.witnessed),
        _ => true,
    });
    cases.extend(others.map(|one| Case {
        of: vec![one],
        is_burst: false,
    }));
    cases.sort_by_key(Case::rank);
    cases
}

/// Gives each record to the first of its cases.
fn shares(cases: &[Case<'_>]) -> Vec<Share> {
    let mut tellers: IntervalTree<Teller> = IntervalTree::new();
    let mut shares = vec![Share::default(); cases.len()];
    let mut taken = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        for (at, one) in case.of.iter().enumerate() {
            taken.clear();
            tellers.drain(one.range, |run| taken.push(run));
            let mut free = Vec::new();
            let mut next = Some(one.range.first);
            for run in &taken {
                tellers.set(run.range, run.value);
                let hole = next.zip(before(run.range.first));
                free.extend(hole.and_then(|(first, last)| OffsetRange::new(first, last)));
                next = after(run.range.last);
                let Teller(teller) = run.value;
                if teller != index
                    && let Some(share) = shares.get_mut(teller)
                {
                    share.also.push((index, run.range, at));
                }
            }
            free.extend(next.and_then(|first| OffsetRange::new(first, one.range.last)));
            for range in free {
                tellers.set(range, Teller(index));
                if let Some(share) = shares.get_mut(index) {
                    share.records.push((range, at));
                }
            }
        }
    }
    shares
}

fn finding(
    words: Words<'_>,
    cases: &[Case<'_>],
    case: &Case<'_>,
    records: &[(OffsetRange, usize)],
    also: &[(usize, OffsetRange, usize)],
) -> Option<Found> {
    let mut text = String::new();
    for kind in AnomalyKind::ALL {
        let is_of_kind = |index: usize| cases.get(index).is_some_and(|case| case.kind() == kind);
        let some: Vec<_> = also.iter().filter(|also| is_of_kind(also.0)).collect();
        let Some((index, _, _)) = some.first() else {
            continue;
        };
        let of_all: Vec<_> = some.iter().map(|(_, range, at)| (*range, *at)).collect();
        let is_one = some.iter().all(|other| other.0 == *index);
        let what = match cases.get(*index) {
            Some(one) if is_one => one.evidence(words, &of_all),
            _ => named(&ranges(&of_all)),
        };
        text += &format!("; also {}: {what}", kind.name());
    }
    case.found(words, records, &text)
}
