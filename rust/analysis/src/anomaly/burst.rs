//! Records that are given up: one by one, or many in a short time.

use super::config::AnomalyConfig;
use super::suspicion::Suspicion;

/// Suspicions that are told together.
pub(super) enum Part<'a> {
    Single(&'a Suspicion),
    Burst(Vec<&'a Suspicion>),
}

/// Divides those of records that were given up, in order of time, into bursts and single ones.
pub(super) fn parts<'a>(given_up: &[&'a Suspicion], config: &AnomalyConfig) -> Vec<Part<'a>> {
    let in_burst = in_bursts(given_up, config);
    let mut parts = Vec::new();
    let mut begin = 0;
    while let Some(one) = given_up.get(begin) {
        if !in_burst.get(begin).copied().unwrap_or(false) {
            parts.push(Part::Single(one));
            begin += 1;
            continue;
        }
        let mut end = begin + 1;
        while let (Some(last), Some(next), Some(true)) =
            (given_up.get(end - 1), given_up.get(end), in_burst.get(end))
            && ms_between(last, next) <= config.burst_ms
        {
            end += 1;
        }
        let burst = given_up.get(begin..end).unwrap_or_default();
        parts.push(Part::Burst(burst.to_vec()));
        begin = end;
    }
    parts
}

/// Marks the suspicions that have, with those before them, enough records in a short enough time.
fn in_bursts(given_up: &[&Suspicion], config: &AnomalyConfig) -> Vec<bool> {
    let mut marked = vec![false; given_up.len()];
    let (mut left, mut records) = (0, 0u128);
    // All before it are marked, or will not be.
    let mut looked_at = 0;
    for (right, one) in given_up.iter().enumerate() {
        records += u128::from(one.range.len());
        while let Some(first) = given_up.get(left)
            && left < right
            && ms_between(first, one) > config.burst_ms
        {
            records -= u128::from(first.range.len());
            left += 1;
        }
        if records >= u128::from(config.burst_records) {
            for mark in marked.iter_mut().take(right + 1).skip(left.max(looked_at)) {
                *mark = true;
            }
            looked_at = right + 1;
        }
    }
    marked
}

/// Time from the first to the second, ms.
pub(super) const fn ms_between(a: &Suspicion, b: &Suspicion) -> i64 {
    b.since.ms.saturating_sub(a.since.ms)
}
