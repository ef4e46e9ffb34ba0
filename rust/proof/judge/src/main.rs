//! Plays random sequences on Kafka's own classes and on share_state, and compares after every operation.
//!
//! `tests/proof/judge/differential.py` starts it, with Kafka's side (`tests/kafka/java`) as the command to run beside it. It writes one
//! JSON object, the report, to standard output; with `rules` alone, the ways in which it recognises deliberate differences.
//! `recordings PATH...` plays recorded files of share partitions, share coordinators and share sessions in place of Kafka's side;
//! `cases PATH` tells as JSON what came of each scenario of such a file.

mod arguments;
mod assignor;
mod bytes;
mod combiner;
mod compare;
mod coordinator;
mod coverage;
mod deliberate;
mod durable;
mod engine;
mod export;
mod generate;
mod group;
mod kafka;
mod log_model;
mod operation;
mod outcome;
mod partition;
mod random;
mod recordings;
mod report;
mod sequences;
mod session;
mod shrink;
mod verdict;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use arguments::Arguments;
use kafka::Kafka;
use serde_json::{Value, json};

/// Every way in which a deliberate difference is recognised: profile, id and what happens.
fn rules() -> Value {
    let engine = deliberate::RULES
        .iter()
        .map(|rule| ("engine", rule.id, rule.what));
    let others = [
        coordinator::RULES,
        combiner::RULES,
        session::RULES,
        assignor::RULES,
        group::RULES,
    ];
    let others = others.into_iter().flatten();
    engine
        .chain(others.copied())
        .map(|(profile, id, what)| json!({"profile": profile, "id": id, "what": what}))
        .collect()
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    match first.as_deref() {
        Some("rules") => printed(Ok(rules())),
        Some("recordings") => recordings::play_files(arguments),
        Some("cases") => printed(recordings::cases(Path::new(
            &arguments.next().unwrap_or_default(),
        ))),
        _ => printed(compared(first.into_iter().chain(arguments))),
    }
}

/// Plays sequences beside Kafka's side; the report.
fn compared(arguments: impl Iterator<Item = String>) -> io::Result<Value> {
    let run = Arguments::parse(arguments)
        .map_err(io::Error::other)
        .and_then(|arguments| {
            let mut kafka = Kafka::start(&arguments.command)?;
            match arguments.profile.as_str() {
                "engine" => partition::run(&arguments, &mut kafka),
                "coordinator" => {
                    sequences::run::<coordinator::OnCoordinators>(&arguments, &mut kafka)
                }
                "assignor" => sequences::run::<assignor::OnAssignors>(&arguments, &mut kafka),
                "group" => sequences::run::<group::OnGroups>(&arguments, &mut kafka),
                "session" => sequences::run::<session::OnSessions>(&arguments, &mut kafka),
                "combiner" => combiner::run(&arguments, &mut kafka),
                other => Err(io::Error::other(format!("no profile is called {other}"))),
            }
        });
    run.map(|report| report.to_json())
}

fn printed(result: io::Result<Value>) -> ExitCode {
    match result {
        Ok(value) => {
            println!("{value}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("share-state-judge: {error}");
            ExitCode::FAILURE
        }
    }
}
