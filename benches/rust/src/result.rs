//! Output of a runner: JSON objects, with the same fields in every language.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Times of the operations of one kind, nanoseconds; of each operation the least over the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Operations.
    pub count: usize,
    /// Half are below.
    pub p50: u32,
    /// 99 in 100.
    pub p99: u32,
    /// 9,999 in 10,000.
    pub p9999: u32,
    /// The slowest.
    pub max: u32,
}

impl Tail {
    /// Sums up times in any order; `None` when there are none.
    #[must_use]
    pub fn of(mut times: Vec<u32>) -> Option<Self> {
        times.sort_unstable();
        let at = |share: f64| {
            let index = ((times.len() as f64 * share).ceil() as usize).max(1) - 1;
            times.get(index).copied()
        };
        Some(Self {
            count: times.len(),
            p50: at(0.5)?,
            p99: at(0.99)?,
            p9999: at(0.9999)?,
            max: *times.last()?,
        })
    }
}

/// Outcome of the first replay.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Name of the engine.
    pub engine: String,
    /// The digest of all results.
    pub digest: u64,
    /// The operation at which the time was up; then there is no digest.
    pub stopped: Option<usize>,
    /// Writes, the state batches in them, and the bytes of the requests.
    pub persisted: (u64, u64, u64),
    /// Nanoseconds of each round, where the runner times them itself.
    pub rounds: Vec<u128>,
    /// More figures by name.
    pub more: BTreeMap<&'static str, f64>,
}

/// The field `tails` of an answer.
#[must_use]
pub fn tails_to_json(tails: &BTreeMap<&str, Tail>) -> String {
    let tails: Vec<String> = tails
        .iter()
        .map(|(kind, t)| {
            format!(
                r#""{kind}": {{"count": {}, "p50": {}, "p99": {}, "p9999": {}, "max": {}}}"#,
                t.count, t.p50, t.p99, t.p9999, t.max
            )
        })
        .collect();
    format!(r#""tails": {{{}}}"#, tails.join(", "))
}

impl Report {
    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let rounds: Vec<String> = self.rounds.iter().map(u128::to_string).collect();
        let stopped = self.stopped.map_or("null".into(), |op| op.to_string());
        let digest = match self.stopped {
            Some(_) => "null".into(),
            None => format!("\"{:016x}\"", self.digest),
        };
        let (writes, batches, bytes) = self.persisted;
        let mut json = format!(
            r#"{{"engine": "{}", "digest": {digest}, "stopped": {stopped}, "writes": {writes}, "batches": {batches}, "bytes": {bytes}, "rounds_ns": [{}]"#,
            self.engine,
            rounds.join(", "),
        );
        for (name, value) in &self.more {
            let _ = write!(json, r#", "{name}": {value}"#);
        }
        json.push('}');
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_time_that_so_many_stay_below() {
        let tail = Tail::of((1..=10_000).rev().collect()).unwrap();
        assert_eq!(
            (tail.count, tail.p50, tail.p99, tail.p9999, tail.max),
            (10_000, 5_000, 9_900, 9_999, 10_000)
        );
        assert_eq!(Tail::of(Vec::new()), None);
        assert_eq!(
            Tail::of(vec![7]).map(|t| (t.p50, t.p9999, t.max)),
            Some((7, 7, 7))
        );
    }
}
