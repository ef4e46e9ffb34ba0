//! What Kafka's own classes were recorded to do (`tests/data/conformance`), played in place of Kafka's side.
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

/// What came of a file.
enum Report {
    /// Of the suites of share partitions.
    Partitions(Played),
    /// Of the suites of share coordinators and share sessions.
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
                failed |= !played.differences.is_empty() || played.compared == 0;
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

/// What came of each case of a file, for `tests/conformance`; the suites of share partitions it plays itself.
///
/// # Errors
/// The file cannot be read, or is of no such suite.
pub fn cases(path: &Path) -> io::Result<Value> {
    match play_file(path)? {
        Report::Cases(cases) => Ok(cases.to_json()),
        Report::Partitions(_) => Err(io::Error::other("a recording of share partitions")),
    }
}

/// Plays every scenario of a file, as JSON or gzip of it.
fn play_file(path: &Path) -> io::Result<Report> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let document = document(path)?;
    let scenarios = document["scenarios"].as_array();
    let scenarios = scenarios.ok_or_else(|| io::Error::other("no list of scenarios"))?;
    let is_of = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if is_of(&["share_partition", "probes_reference_quirks"]) {
        let played = partition::play_all(scenarios).map_err(io::Error::other)?;
        return Ok(Report::Partitions(played));
    }
    if is_of(&["share_coordinator_shard"]) {
        let is_before_44 = coordinator::is_before_44(&name, &document["meta"]);
        let play = |scenario: &Value| coordinator::play(scenario, is_before_44);
        return Ok(Report::Cases(Cases::play(scenarios, play)));
    }
    if is_of(&["share_session"]) {
        return Ok(Report::Cases(Cases::play(scenarios, session::play)));
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
