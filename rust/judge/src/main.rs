//! Plays random sequences on Kafka's own classes and on share_state, and compares after every operation.
//!
//! `tests/kafka/differential.py` starts it, with Kafka's side (`tests/kafka/java`) as the command to run beside it. It writes one
//! JSON object, the report, to standard output; with `rules` alone, the ways in which it recognises deliberate differences.
//! `recordings PATH...` plays recorded files of share partitions in place of Kafka's side.

mod arguments;
mod assignor;
mod combiner;
mod compare;
mod coordinator;
mod coordinator_engine;
mod coordinator_export;
mod coordinator_operation;
mod coordinator_outcome;
mod coverage;
mod deliberate;
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
    if std::env::args().nth(1).as_deref() == Some("rules") {
        println!("{}", rules());
        return ExitCode::SUCCESS;
    }
    if std::env::args().nth(1).as_deref() == Some("recordings") {
        return recordings::play_files(std::env::args().skip(2));
    }
    let run = Arguments::parse(std::env::args().skip(1))
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
    match run {
        Ok(report) => {
            println!("{}", report.to_json());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("share-state-judge: {error}");
            ExitCode::FAILURE
        }
    }
}
