//! Recordings of Kafka's own classes (`tests/data/conformance`), played in place of Kafka's side.
//!
//! The prefix of a file's name says which suite it is of. A field or an operation that nobody knows is a difference: whoever
//! overlooks one agrees with things that it has never looked at.

mod assignor;
pub mod cases;
pub mod coordinator;
mod fields;
mod offsets;
mod partition;
mod records;
mod session;
#[cfg(test)]
mod tests;

use std::io::{self, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

use cases::Cases;

/// Plays a file, and tells what came of each scenario, in the order of the file.
///
/// # Errors
/// It cannot be read, or is of no suite that is played here.
pub fn cases(path: &Path) -> io::Result<Value> {
    Ok(play_file(path)?.to_json())
}

fn play_file(path: &Path) -> io::Result<Cases> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let document = document(path)?;
    let scenarios = document["scenarios"].as_array();
    let scenarios = scenarios.ok_or_else(|| io::Error::other("no list of scenarios"))?;
    let is_of = |suite: &str| name.starts_with(suite);
    Ok(
        if is_of("share_partition") || is_of("probes_reference_quirks") {
            Cases::play(scenarios, partition::play)
        } else if is_of("share_coordinator_shard") {
            let is_before_44 = coordinator::is_before_44(&name, &document["meta"]);
            Cases::play(scenarios, |scenario| {
                coordinator::play(scenario, is_before_44)
            })
        } else if is_of("share_session") {
            Cases::play(scenarios, session::play)
        } else if is_of("simple_assignor") {
            Cases::play(scenarios, assignor::play)
        } else if is_of("offsets_manager") {
            Cases::play(scenarios, offsets::play)
        } else if is_of("record_serde") {
            Cases::play(scenarios, records::play)
        } else {
            return Err(io::Error::other("no suite that is played here"));
        },
    )
}

/// Reads a file of JSON, perhaps compressed.
fn document(path: &Path) -> io::Result<Value> {
    let bytes = std::fs::read(path)?;
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(serde_json::from_slice(&bytes)?);
    }
    let mut text = String::new();
    GzDecoder::new(&bytes[..]).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}
