//! Makes operation logs and replays them on the engines of this language.
//!
//! `oplog generate WORKLOAD FILE --size N --seed N` and
//! `oplog run FILE --engine tree|twin|naive_offset_map|flat_vec --rounds N --tail-rounds N --limit-s N --expect DIGEST`, which
//! prints one JSON object. An engine whose results have another digest is not timed.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use share_state_benches::arguments::Arguments;
use share_state_benches::digest::Digest;
use share_state_benches::engine::Engine;
use share_state_benches::engines::{CoreEngine, FlatVec, ModelEngine, NaiveOffsetMap};
use share_state_benches::fold::{CoreFold, Fold, ListFold, is_fold, replay};
use share_state_benches::generate::generate;
use share_state_benches::oplog::OpLog;
use share_state_benches::replay::{Spent, check, time, timed_kinds, two_threads};
use share_state_benches::result::{Report, Tail};
use share_state_core::in_flight::{IntervalStore, TwinStore};

fn main() -> ExitCode {
    match run(&Arguments::of_process()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oplog: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    match arguments.word(0) {
        Some("generate") => {
            let (Some(workload), Some(file)) = (arguments.word(1), arguments.word(2)) else {
                return Err("generate WORKLOAD FILE --size N".into());
            };
            let (size, seed) = (
                arguments.option("size", 1_000)?,
                arguments.option("seed", 1)?,
            );
            let log = generate(workload, size, seed)
                .ok_or_else(|| format!("no workload is called {workload}"))?;
            log.write(Path::new(file)).map_err(|e| e.to_string())
        }
        Some("run") => {
            let file = arguments.word(1).ok_or("run FILE --engine NAME")?;
            let log = OpLog::read(Path::new(file)).map_err(|e| e.to_string())?;
            let engine = arguments.option("engine", String::from("tree"))?;
            let plan = Plan {
                rounds: arguments.option("rounds", 5)?,
                tail_rounds: arguments.option("tail-rounds", 0)?,
                limit: Duration::from_secs(arguments.option("limit-s", 60)?),
                trace: arguments.option("trace", false)?,
                expect: arguments.option("expect", String::new())?,
            };
            let mut report = match (is_fold(&log), engine.as_str()) {
                (false, "tree") => plan.engine::<CoreEngine<IntervalStore>>(&log),
                (false, "twin") => plan.engine::<CoreEngine<TwinStore>>(&log),
                (false, "naive_offset_map") => plan.engine::<ModelEngine<NaiveOffsetMap>>(&log),
                (false, "flat_vec") => plan.engine::<ModelEngine<FlatVec>>(&log),
                (true, "tree") => plan.fold::<CoreFold>(&log),
                (true, "flat_vec") => plan.fold::<ListFold>(&log),
                _ => return Err(format!("{engine} does not replay this log")),
            };
            report.engine = engine;
            println!("{}", report.to_json());
            Ok(())
        }
        _ => Err("generate or run".into()),
    }
}

/// Replays that nobody times come first for so long, the compared one included, as the JVM has its own.
const WARM_UP: Duration = Duration::from_millis(300);
/// Rounds together take so long at least, or are [`MOST_ROUNDS`]: a round may be a millisecond, which any disturbance fills.
const TOGETHER: Duration = Duration::from_millis(200);
const MOST_ROUNDS: usize = 200;

struct Plan {
    rounds: usize,
    tail_rounds: usize,
    limit: Duration,
    trace: bool,
    /// Empty when nothing is expected.
    expect: String,
}

/// Nanoseconds of each round, once the engine is warm, which began to replay at `began`.
fn timed(rounds: usize, began: Instant, mut round: impl FnMut() -> Duration) -> Vec<u128> {
    if rounds == 0 {
        return Vec::new();
    }
    while began.elapsed() < WARM_UP {
        round();
    }
    let mut taken = Vec::new();
    let timing = Instant::now();
    while taken.len() < rounds || timing.elapsed() < TOGETHER && taken.len() < MOST_ROUNDS {
        taken.push(round().as_nanos());
    }
    taken
}

impl Plan {
    fn is_to_be_timed(&self, report: &Report) -> bool {
        let expected = self.expect.is_empty() || self.expect == format!("{:016x}", report.digest);
        report.stopped.is_none() && expected
    }

    fn engine<E: Engine>(&self, log: &OpLog) -> Report {
        let started = Instant::now();
        let outcome = check::<E>(log, self.limit, self.trace);
        let took = started.elapsed();
        let counts = &outcome.durable.counts;
        let mut report = Report {
            digest: outcome.digest.value(),
            stopped: outcome.stopped,
            persisted: (counts.writes, counts.batches, counts.bytes),
            ..Report::default()
        };
        for value in outcome.digest.trace.unwrap_or_default() {
            eprintln!("{value}");
        }
        drop(outcome.durable);
        if !self.is_to_be_timed(&report) {
            return report;
        }
        let rounds = self.rounds_of(self.rounds, took);
        report.rounds = timed(rounds, started, || {
            let mut spent = Spent::default();
            time::<E, false>(log, Duration::MAX, &mut spent);
            spent.total
        });
        if log.header.workload == "W16" && self.rounds > 0 {
            report
                .more
                .insert("two_threads_ratio", two_threads::<E>(log));
        }
        let mut spent = Spent::default();
        for _ in 0..self.rounds_of(self.tail_rounds, took) {
            time::<E, true>(log, Duration::MAX, &mut spent);
        }
        let mut by_kind = std::collections::BTreeMap::<&str, Vec<u32>>::new();
        for (kind, least) in timed_kinds(log).zip(spent.least) {
            by_kind.entry(kind.name()).or_default().push(least);
        }
        report.tails = by_kind
            .into_iter()
            .filter_map(|(kind, times)| Some((kind, Tail::of(times)?)))
            .collect();
        report
    }

    fn fold<F: Fold>(&self, log: &OpLog) -> Report {
        let mut digest = Digest::default();
        let started = Instant::now();
        let checked = replay::<F>(log, Some(&mut digest), self.limit);
        let took = started.elapsed();
        let mut report = Report {
            digest: digest.value(),
            stopped: checked.err(),
            ..Report::default()
        };
        if self.is_to_be_timed(&report) {
            let rounds = self.rounds_of(self.rounds, took);
            report.rounds = timed(rounds, started, || {
                replay::<F>(log, None, Duration::MAX).unwrap_or_default()
            });
        }
        report
    }

    /// As many as were asked for, and fewer where all of them would take more than five times the limit.
    fn rounds_of(&self, asked: usize, took: Duration) -> usize {
        let affordable = (self.limit.as_secs_f64() * 5.0 / took.as_secs_f64().max(1e-9)) as usize;
        asked.min(affordable.max(2))
    }
}
