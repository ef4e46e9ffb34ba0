//! Makes operation logs and replays them on the engines of this language.
//!
//! `oplog generate WORKLOAD FILE --size N --seed N [--writes N]` and `oplog run FILE --engine tree|twin --limit-s N`, which prints a JSON object with the results of a first replay, and then one for each line that it reads: `replays N` is the time
//! of so many replays, `tails N` the times of single operations, `threads 1` the gain of a second thread. With
//! `--durable never|interval|always|polled --dir DIRECTORY` replays go over a `StateStore`, which must hold what was persisted.
//! `oplog commits FILE DIRECTORY --durable …` replays once and leaves the store, whose segments have the bytes of every commit.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use share_state_benches::arguments::Arguments;
use share_state_benches::digest::Digest;
use share_state_benches::fold::{is_fold, replay};
use share_state_benches::generate::{WRITES, generate_writes};
use share_state_benches::oplog::OpLog;
use share_state_benches::replay::{Spent, check, time, time_on, timed_kinds, two_threads};
use share_state_benches::result::{Report, Tail, tails_to_json};
use share_state_benches::stored::{Durability, Expected, Stored};
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};

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
            let writes = arguments.option("writes", WRITES)?;
            let log = generate_writes(workload, size, seed, writes)
                .ok_or_else(|| format!("no workload is called {workload}"))?;
            log.write(Path::new(file)).map_err(|e| e.to_string())
        }
        Some("run") => {
            let file = arguments.word(1).ok_or("run FILE --engine NAME")?;
            let log = OpLog::read(Path::new(file)).map_err(|e| e.to_string())?;
            let engine = arguments.option("engine", String::from("tree"))?;
            let plan = Plan {
                limit: Duration::from_secs(arguments.option("limit-s", 60)?),
                kept: Kept::asked(arguments)?,
            };
            match (is_fold(&log), engine.as_str()) {
                (false, "tree") => plan.engine::<IntervalStore>(&log, &engine),
                _ if plan.kept.is_some() => Err(format!("{engine} is not timed over a store")),
                (false, "twin") => plan.engine::<TwinStore>(&log, &engine),
                (true, "tree") => plan.fold(&log, &engine),
                _ => Err(format!("{engine} does not replay this log")),
            }
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

struct Plan {
    limit: Duration,
    /// Store that keeps the writes, if there is one.
    kept: Option<Kept>,
}

/// Durability and place of the writes that are kept.
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
        time_on::<IntervalStore>(log, &mut stored, spent);
        Ok(stored)
    }
}

/// Shows the results, and then answers what is asked, until nobody asks any more.
fn serve(
    report: &Report,
    mut answer: impl FnMut(&str, usize) -> Result<String, String>,
) -> Result<(), String> {
    println!("{}", report.to_json());
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        let (what, times) = line.split_once(' ').unwrap_or((&line, ""));
        let times = times.parse().map_err(|_| unknown(&line))?;
        println!("{{{}}}", answer(what, times)?);
    }
    Ok(())
}

fn unknown(asked: &str) -> String {
    format!("{asked}: expected replays N, tails N or threads 1")
}

fn ns(spent: Duration) -> String {
    format!(r#""ns": {}"#, spent.as_nanos())
}

impl Plan {
    fn engine<S: InFlightStore>(&self, log: &OpLog, name: &str) -> Result<(), String> {
        let outcome = check::<S>(log, self.limit);
        let counts = &outcome.durable.counts;
        let report = Report {
            engine: name.into(),
            digest: outcome.digest.value(),
            stopped: outcome.stopped,
            persisted: (counts.writes, counts.batches, counts.bytes),
            ..Report::default()
        };
        drop(outcome.durable);
        let expected = self.kept.as_ref().map(|kept| {
            let mut expected = Expected::of(log.header.partitions, kept.durability);
            time_on::<IntervalStore>(log, &mut expected, &mut Spent::default());
            expected.durable
        });
        serve(&report, |what, times| {
            let mut spent = Spent::default();
            match (what, self.kept.as_ref().zip(expected.as_ref())) {
                ("replays", Some((kept, expected))) => {
                    let mut commits = (0, 0);
                    for _ in 0..times {
                        let dir = tempfile::tempdir_in(&kept.dir).map_err(|e| e.to_string())?;
                        let stored = kept.once(log, dir.path(), &mut spent)?;
                        if !stored.holds(expected).map_err(|e| e.to_string())? {
                            return Err("the store does not hold what was persisted".into());
                        }
                        commits = stored.commits();
                    }
                    let (commits, bytes) = commits;
                    let spent = ns(spent.total);
                    Ok(format!(
                        r#"{spent}, "commits": {commits}, "log_bytes": {bytes}"#
                    ))
                }
                ("replays", None) => {
                    for _ in 0..times {
                        time::<S, false>(log, Duration::MAX, &mut spent);
                    }
                    Ok(ns(spent.total))
                }
                ("threads", None) => {
                    Ok(format!(r#""two_threads_ratio": {}"#, two_threads::<S>(log)))
                }
                ("tails", None) => {
                    for _ in 0..times {
                        time::<S, true>(log, Duration::MAX, &mut spent);
                    }
                    let mut by_kind = BTreeMap::<&str, Vec<u32>>::new();
                    for (kind, least) in timed_kinds(log).zip(spent.least) {
                        by_kind.entry(kind.name()).or_default().push(least);
                    }
                    let tails = by_kind
                        .into_iter()
                        .filter_map(|(kind, times)| Some((kind, Tail::of(times)?)))
                        .collect();
                    Ok(tails_to_json(&tails))
                }
                _ => Err(unknown(what)),
            }
        })
    }

    fn fold(&self, log: &OpLog, name: &str) -> Result<(), String> {
        let mut digest = Digest::default();
        let checked = replay(log, Some(&mut digest), self.limit);
        let report = Report {
            engine: name.into(),
            digest: digest.value(),
            stopped: checked.err(),
            ..Report::default()
        };
        serve(&report, |what, times| match what {
            "replays" => Ok(ns((0..times)
                .map(|_| replay(log, None, Duration::MAX).unwrap_or_default())
                .sum())),
            _ => Err(unknown(what)),
        })
    }
}
