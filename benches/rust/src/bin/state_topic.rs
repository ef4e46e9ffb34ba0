//! A state topic of any size, and what one process takes to fold it.
//!
//! `state_topic write --dir PATH --records N [--keys N] [--partitions N] [--seed N] [--segment-bytes N]` writes folders as a
//! broker's log directory has them. `state_topic fold --dir PATH [--rounds N] [--threads N]` folds them, one folder after the
//! other, checks of their CRC included. Both print one JSON object.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::error::Error;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use share_state_benches::arguments::Arguments;
use share_state_benches::result::Report;
use share_state_benches::state_topic::{self, Plan};
use share_state_log::read;

fn main() -> ExitCode {
    match run(&Arguments::of_process()) {
        Ok(report) => {
            println!("{}", report.to_json());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("state_topic: {error}");
            ExitCode::FAILURE
        }
    }
}

type Failure = Box<dyn Error + Send + Sync>;

fn run(arguments: &Arguments) -> Result<Report, Failure> {
    let dir = PathBuf::from(arguments.option("dir", String::new())?);
    match arguments.word(0) {
        Some("write") => write(&dir, arguments),
        Some("fold") => fold(
            &dir,
            arguments.option("rounds", 3)?,
            arguments.option("threads", 1)?,
        ),
        _ => Err("write or fold".into()),
    }
}

fn write(dir: &Path, arguments: &Arguments) -> Result<Report, Failure> {
    let plan = Plan {
        records: arguments.option("records", 1_000_000)?,
        keys: arguments.option("keys", 1_000)?,
        partitions: arguments.option("partitions", 8)?,
        seed: arguments.option("seed", 1)?,
        segment_bytes: arguments.option("segment-bytes", 100 << 20)?,
    };
    let mut report = Report::default();
    let started = Instant::now();
    let bytes = state_topic::write(dir, &plan)?;
    report.rounds.push(started.elapsed().as_nanos());
    report.persisted = (plan.records, 0, bytes);
    Ok(report)
}

/// The figures `records` and `states` are those of the last round.
fn fold(dir: &Path, rounds: usize, threads: usize) -> Result<Report, Failure> {
    let mut folders: Vec<PathBuf> = fs::read_dir(dir)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    folders.sort();
    let mut report = Report::default();
    for _ in 0..rounds {
        let next = AtomicUsize::new(0);
        let started = Instant::now();
        let work = || -> Result<(u64, u64), Failure> {
            let mut found = (0, 0);
            while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
                let folded = read::fold(folder, |_| ControlFlow::Continue(()))?;
                if let Some(finding) = folded.findings.first() {
                    return Err(format!("{finding:?}").into());
                }
                found.0 += folded.records;
                found.1 += folded.states.len() as u64;
            }
            Ok(found)
        };
        let (records, states) = std::thread::scope(|scope| {
            let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            all.into_iter().try_fold((0, 0), |sum, one| {
                let (records, states) = one.join().map_err(|_| "a fold panicked")??;
                Ok::<_, Failure>((sum.0 + records, sum.1 + states))
            })
        })?;
        report.rounds.push(started.elapsed().as_nanos());
        report.more.insert("records", records as f64);
        report.more.insert("states", states as f64);
    }
    Ok(report)
}
