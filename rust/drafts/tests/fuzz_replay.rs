//! The decoders of the drafts on any input: the committed corpus, and seeded mutations of it.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly")]

mod common;
#[path = "../../fuzz/bodies/draft_record.rs"]
mod draft_record;
#[path = "../../fuzz/replay.rs"]
mod replay;

use std::collections::BTreeMap;
use std::path::Path;

use common::Logs;
use common::engine::Engine;
use share_state_core::record_state::AcknowledgeType;
use share_state_core::share_partition::FetchedBatch;
use share_state_drafts::control::{encode_key, encode_value};
use share_state_drafts::state_topic::{self, CheckpointEpochWidth};

#[test]
fn records_of_the_drafts() {
    replay::replay("draft_record", draft_record::run, 13, 1_000);
}

/// A short life: accepted, released, run out.
fn logs(width: CheckpointEpochWidth) -> Logs {
    let mut logs = Logs::begin(&[("G1", 5)], 2, width);
    let mut engine = Engine::begin(5);
    engine.fetch("one", &[FetchedBatch::plain(5, 20)], 16);
    engine.acknowledge("one", 5, 8, AcknowledgeType::Accept);
    engine.acknowledge("one", 10, 12, AcknowledgeType::Release);
    engine.pass(30_000);
    for write in engine.writes() {
        logs.write(0, &write);
    }
    logs
}

/// Inputs of the target by name: every record of the life, a tombstone, and a count that no input holds.
fn corpus() -> BTreeMap<String, Vec<u8>> {
    let mut corpus = BTreeMap::new();
    let mut add = |name: String, form: u8, key: &[u8], value: Option<&[u8]>| {
        let head = [form, key.len() as u8, u8::from(value.is_some())];
        corpus.insert(name, [&head, key, value.unwrap_or_default()].concat());
    };
    for (form, width) in [
        (1, CheckpointEpochWidth::U32),
        (2, CheckpointEpochWidth::U16),
    ] {
        let logs = logs(width);
        for (number, logged) in logs.state_topic.iter().enumerate() {
            let key = state_topic::encode_key(&logged.record.key).unwrap();
            let value = logged.record.value.as_ref().unwrap();
            let value = state_topic::encode_value(value, width).unwrap();
            add(format!("topic-{form}-{number}"), form, &key, Some(&value));
            if number == 1 {
                add(format!("tombstone-{form}"), form, &key, None);
            }
        }
    }
    for (number, logged) in logs(CheckpointEpochWidth::U32).control.iter().enumerate() {
        let key = encode_key(&logged.record);
        let value = encode_value(&logged.record).unwrap();
        add(format!("control-{number}"), 0, &key, Some(&value));
        if number == 1 {
            let bomb = [&value[..8], &[0x7f, 0xff, 0xff, 0xff]].concat();
            add("bomb".to_owned(), 0, &key, Some(&bomb));
        }
    }
    corpus
}

/// `UPDATE_FIXTURES=1 cargo test -p share-state-drafts --test fuzz_replay` writes the corpus again.
#[test]
fn the_corpus_holds_every_record_of_a_short_life() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/draft_record");
    let corpus = corpus();
    assert_eq!(corpus.len(), 15);
    let update = std::env::var_os("UPDATE_FIXTURES").is_some_and(|value| value == "1");
    for (name, data) in corpus {
        let path = folder.join(&name);
        if update {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &data).unwrap();
        }
        assert_eq!(std::fs::read(&path).unwrap(), data, "{name}");
    }
}
