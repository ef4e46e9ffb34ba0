//! Makes operation logs and replays them on the engines of this language.
//!
//! `oplog generate WORKLOAD FILE --size N --seed N` and
//! `oplog run FILE --engine tree|twin|naive_offset_map|flat_vec --rounds N --tail-rounds N --limit-s N --expect DIGEST`, which
//! prints one JSON object. An engine whose results have another digest is not timed. With `--durable never|interval|always|polled
//! --dir DIRECTORY` it is timed over a `StateStore`, which must hold what was persisted.
//! `oplog commits FILE DIRECTORY --durable …` replays once and leaves the store, whose segment has the bytes of every commit.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use share_state_benches::arguments::Arguments;
use share_state_benches::digest::Digest;
use share_state_benches::engine::Engine;
use share_state_benches::engines::{CoreEngine, FlatVec, NaiveEngine, NaiveOffsetMap, is_naive};
use share_state_benches::fold::{CoreFold, Fold, ListFold, is_fold, replay};
use share_state_benches::generate::generate;
use share_state_benches::oplog::OpLog;
use share_state_benches::replay::{Spent, check, time, time_on, timed_kinds, two_threads};
use share_state_benches::result::{Report, Tail};
use share_state_benches::stored::{Durability, Expected, Stored};
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
                kept: Kept::asked(arguments)?,
            };
            let mut report = match (is_fold(&log), engine.as_str()) {
                (false, "tree") => {
                    plan.kept(&log, plan.engine::<CoreEngine<IntervalStore>>(&log))?
                }
                _ if plan.kept.is_some() => {
                    return Err(format!("{engine} is not timed over a store"));
                }
                (false, "twin") => plan.engine::<CoreEngine<TwinStore>>(&log),
                (false, "naive_offset_map") if is_naive(&log) => {
                    plan.engine::<NaiveEngine<NaiveOffsetMap>>(&log)
                }
                (false, "flat_vec") if is_naive(&log) => plan.engine::<NaiveEngine<FlatVec>>(&log),
                (true, "tree") => plan.fold::<CoreFold>(&log),
                (true, "flat_vec") => plan.fold::<ListFold>(&log),
                _ => return Err(format!("{engine} does not replay this log")),
            };
            report.engine = engine;
            println!("{}", report.to_json());
            Ok(())
        }
        Some("commits") => {
            let (Some(file), Some(dir)) = (arguments.word(1), arguments.word(2)) else {
                return Err("commits FILE DIRECTORY --durable NAME".into());
            };
            let log = OpLog::read(Path::new(file)).map_err(|e| e.to_string())?;
            let durability = arguments
                .option("durable", String::from("always"))?
                .parse()?;
            let kept = Kept {
                durability,
                dir: dir.into(),
            };
            let (commits, bytes) = kept
                .once(&log, Path::new(dir), &mut Spent::default())?
                .commits();
            println!("{{\"commits\": {commits}, \"bytes\": {bytes}}}");
            Ok(())
        }
        _ => Err("generate, run or commits".into()),
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
    /// Where writes are kept, if they are.
    kept: Option<Kept>,
}

/// How and where writes are kept.
struct Kept {
    durability: Durability,
    dir: PathBuf,
}

impl Kept {
    fn asked(arguments: &Arguments) -> Result<Option<Self>, String> {
        let name = arguments.option("durable", String::new())?;
        if name.is_empty() {
            return Ok(None);
        }
        let dir = arguments.option("dir", std::env::temp_dir())?;
        Ok(Some(Self {
            durability: name.parse()?,
            dir,
        }))
    }

    /// A replay over a new store in `dir`.
    fn once(&self, log: &OpLog, dir: &Path, spent: &mut Spent) -> Result<Stored, String> {
        let mut stored =
            Stored::make(dir, log.header.partitions, self.durability).map_err(|e| e.to_string())?;
        time_on::<CoreEngine<IntervalStore>>(log, &mut stored, spent);
        Ok(stored)
    }
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

    /// The report with the rounds over a store, if one is asked for, once it has been seen to hold what was persisted.
    fn kept(&self, log: &OpLog, mut report: Report) -> Result<Report, String> {
        let Some(kept) = self.kept.as_ref().filter(|_| self.is_to_be_timed(&report)) else {
            return Ok(report);
        };
        let mut expected = Expected::of(log.header.partitions, kept.durability);
        time_on::<CoreEngine<IntervalStore>>(log, &mut expected, &mut Spent::default());
        let again = || -> Result<(Duration, bool, (u64, u64)), String> {
            let dir = tempfile::tempdir_in(&kept.dir).map_err(|e| e.to_string())?;
            let mut spent = Spent::default();
            let stored = kept.once(log, dir.path(), &mut spent)?;
            let holds = stored.holds(&expected.durable).map_err(|e| e.to_string())?;
            Ok((spent.total, holds, stored.commits()))
        };
        // One more than are timed: the first finds caches and allocator cold.
        for round in 0..self.rounds + usize::from(self.rounds > 0) {
            let (took, holds, (commits, bytes)) = again()?;
            if !holds {
                return Err("the store does not hold what was persisted".into());
            }
            if round > 0 {
                report.rounds.push(took.as_nanos());
            }
            report.more.insert("commits", commits as f64);
            report.more.insert("log_bytes", bytes as f64);
        }
        Ok(report)
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
        if !self.is_to_be_timed(&report) || self.kept.is_some() {
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
