//! Plays random sequences on Kafka's own classes and on share_state, and compares after every operation.
//!
//! `tests/proof/judge/differential.py` starts it, with Kafka's side (`tests/kafka/java`) as the command to run beside it. It writes one
//! JSON object, the report, to standard output; with `rules` alone, the ways in which it recognises deliberate differences.
//! `cases PATH` plays a recorded file in place of Kafka's side, and tells as JSON what came of each scenario.

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
mod profile;
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
use assignor::OnAssignors;
use combiner::OnCombiners;
use coordinator::OnCoordinators;
use group::OnGroups;
use kafka::Kafka;
use partition::OnPartitions;
use profile::Profile;
use sequences::run;
use serde_json::{Value, json};
use session::OnSessions;

/// Every way in which a deliberate difference is recognised: profile, id and what happens.
fn rules() -> Value {
    fn of<P: Profile>() -> impl Iterator<Item = Value> {
        let rules = P::rules().into_iter();
        rules.map(|(id, what)| json!({"profile": P::NAME, "id": id, "what": what}))
    }
    of::<OnPartitions>()
        .chain(of::<OnCoordinators>())
        .chain(of::<OnCombiners>())
        .chain(of::<OnSessions>())
        .chain(of::<OnAssignors>())
        .chain(of::<OnGroups>())
        .collect()
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    printed(match first.as_deref() {
        Some("rules") => Ok(rules()),
        Some("cases") => recordings::cases(Path::new(&arguments.next().unwrap_or_default())),
        _ => compared(first.into_iter().chain(arguments)),
    })
}

/// Plays sequences beside Kafka's side; the report.
fn compared(arguments: impl Iterator<Item = String>) -> io::Result<Value> {
    let arguments = Arguments::parse(arguments).map_err(io::Error::other)?;
    let run = match arguments.profile.as_str() {
        OnPartitions::NAME => run::<OnPartitions>,
        OnCoordinators::NAME => run::<OnCoordinators>,
        OnCombiners::NAME => run::<OnCombiners>,
        OnSessions::NAME => run::<OnSessions>,
        OnAssignors::NAME => run::<OnAssignors>,
        OnGroups::NAME => run::<OnGroups>,
        other => return Err(io::Error::other(format!("no profile is called {other}"))),
    };
    let report = run(&arguments, &mut Kafka::start(&arguments.command)?)?;
    Ok(report.to_json())
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
