//! Recordings of Kafka's own classes (`tests/data/conformance`), played in place of Kafka's side.
//!
//! The prefix of a file's name says which suite it is of. A field or an operation that nobody knows is a difference: whoever
//! overlooks one agrees with things that it has never looked at.

mod cases;
mod coordinator;
mod fields;
mod partition;
mod session;
#[cfg(test)]
mod tests;

use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use flate2::read::GzDecoder;
use serde_json::Value;

use cases::Cases;
use partition::Played;

/// Outcome of a file.
enum Report {
    /// Outcome of a suite of share partitions.
    Partitions(Played),
    /// Outcome of a suite of share coordinators or share sessions.
    Cases(Cases),
}

/// Plays files, tells what came of each, and fails where one differs, cannot be read or played nothing.
pub fn play_files(paths: impl Iterator<Item = String>) -> ExitCode {
    let mut files = 0;
    let mut failed = false;
    for path in paths {
        files += 1;
        match play_file(Path::new(&path)) {
            Ok(Report::Partitions(played)) => {
                println!("{path} {played}");
                failed |= played.differ() > 0 || played.compared == 0;
            }
            Ok(Report::Cases(cases)) => {
                println!("{path} {cases}");
                failed |= cases.differ() > 0 || cases.run() == 0;
            }
            Err(error) => {
                eprintln!("share-state-judge: {path}: {error}");
                failed = true;
            }
        }
    }
    if failed || files == 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Outcome of each case of a file, for `tests/proof/conformance`.
///
/// # Errors
/// The file cannot be read, or is of no such suite.
pub fn cases(path: &Path) -> io::Result<Value> {
    let document = document(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if is_of_partitions(&name) {
        let scenarios = scenarios(&document)?.iter();
        return Ok(scenarios.map(partition::case).collect());
    }
    Ok(play_cases(&name, &document)?.to_json())
}

fn is_of_partitions(name: &str) -> bool {
    let prefixes = ["share_partition", "probes_reference_quirks"];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

fn scenarios(document: &Value) -> io::Result<&[Value]> {
    let scenarios = document["scenarios"].as_array();
    scenarios
        .map(Vec::as_slice)
        .ok_or_else(|| io::Error::other("no list of scenarios"))
}

/// Plays every scenario of a file, as JSON or gzip of it.
fn play_file(path: &Path) -> io::Result<Report> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let document = document(path)?;
    if is_of_partitions(&name) {
        let played = partition::play_all(scenarios(&document)?);
        return Ok(Report::Partitions(played));
    }
    play_cases(&name, &document).map(Report::Cases)
}

fn play_cases(name: &str, document: &Value) -> io::Result<Cases> {
    let scenarios = scenarios(document)?;
    if name.starts_with("share_coordinator_shard") {
        let is_before_44 = coordinator::is_before_44(name, &document["meta"]);
        let play = |scenario: &Value| coordinator::play(scenario, is_before_44);
        return Ok(Cases::play(scenarios, play));
    }
    if name.starts_with("share_session") {
        return Ok(Cases::play(scenarios, session::play));
    }
    Err(io::Error::other("no suite that is played here"))
}

fn document(path: &Path) -> io::Result<Value> {
    let bytes = std::fs::read(path)?;
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(serde_json::from_slice(&bytes)?);
    }
    let mut text = String::new();
    GzDecoder::new(&bytes[..]).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}
