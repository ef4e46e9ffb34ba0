//! Bytes that an engine asks of the allocator for everything before the first timed operation of a log, share partitions,
//! locks and index included: `oplog_memory FILE --engine tree|twin`. Prints one JSON object.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::path::Path;
use std::process::ExitCode;

use peak_alloc::PeakAlloc;
use share_state_benches::arguments::Arguments;
use share_state_benches::oplog::OpLog;
use share_state_benches::replay::set_up;
use share_state_benches::result::Report;
use share_state_core::in_flight::{InFlightStore, IntervalStore, TwinStore};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn main() -> ExitCode {
    match run(&Arguments::of_process()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oplog_memory: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let file = arguments.word(0).ok_or("oplog_memory FILE --engine NAME")?;
    let log = OpLog::read(Path::new(file)).map_err(|e| e.to_string())?;
    let engine = arguments.option("engine", String::from("tree"))?;
    let bytes = match engine.as_str() {
        "tree" => kept::<IntervalStore>(&log),
        "twin" => kept::<TwinStore>(&log),
        _ => return Err(format!("{engine} is not counted")),
    };
    let mut report = Report {
        engine,
        ..Report::default()
    };
    report.more.insert("memory_bytes", bytes as f64);
    println!("{}", report.to_json());
    Ok(())
}

fn kept<S: InFlightStore>(log: &OpLog) -> usize {
    let before = ALLOCATOR.current_usage();
    let engine = set_up::<S>(log);
    let bytes = ALLOCATOR.current_usage() - before;
    drop(engine);
    bytes
}
