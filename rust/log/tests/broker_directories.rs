//! State directories that real Kafka 4.4.0 brokers left: every record as Kafka's own tool printed it, and the folded
//! states as the brokers themselves answered.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests: the recordings are known to be whole"
)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use serde_json::{Value, json};
use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::{InitializeState, ReadState, WriteState};
use share_state_core::records::ShareValue;
use share_state_core::state_batch::StateBatch;
use share_state_core::time::WallTime;
use share_state_log::read::{LogRecord, fold, scan};
use share_state_log::{StateStore, StoreConfig};
use share_state_wire::state_record::Decoded;

type States = BTreeMap<SharePartitionKey, ShareGroupOffset>;

/// The recordings in the repository, with their numbers of records.
fn recordings() -> [(PathBuf, usize); 2] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    [
        (root.join("examples/orders-4.4.0"), 1495),
        (root.join("tests/data/kafka-state/jobs-4.4.0"), 608),
    ]
}

fn states_of(path: &Path) -> States {
    let folded = fold(path, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(folded.findings, [], "{}", path.display());
    assert_eq!(
        (folded.notes.as_slice(), folded.unknown_types),
        (&[][..], 0)
    );
    folded
        .states
        .into_iter()
        .map(|state| (state.key, state.state))
        .collect()
}

fn batches_json(batches: &[StateBatch]) -> Value {
    let one = |b: &StateBatch| {
        json!({
            "firstOffset": b.first_offset, "lastOffset": b.last_offset,
            "deliveryState": b.delivery_state, "deliveryCount": b.delivery_count,
        })
    };
    batches.iter().map(one).collect()
}

/// The record as Kafka's tool prints it.
fn dump_line(record: &LogRecord) -> Value {
    let Some(Decoded::Record(decoded)) = record.decode().unwrap() else {
        panic!("{record:?}")
    };
    let record_type = if matches!(decoded.value, ShareValue::Update(_)) {
        "1"
    } else {
        "0"
    };
    let mut data = match &decoded.value {
        ShareValue::Tombstone => Value::Null,
        ShareValue::Snapshot(s) => json!({
            "snapshotEpoch": s.snapshot_epoch, "stateEpoch": s.state_epoch, "leaderEpoch": s.leader_epoch,
            "startOffset": s.start_offset, "createTimestamp": s.create_timestamp,
            "writeTimestamp": s.write_timestamp, "stateBatches": batches_json(&s.state_batches),
            "deliveryCompleteCount": s.delivery_complete_count,
        }),
        ShareValue::Update(u) => json!({
            "snapshotEpoch": u.snapshot_epoch, "leaderEpoch": u.leader_epoch, "startOffset": u.start_offset,
            "stateBatches": batches_json(&u.state_batches), "deliveryCompleteCount": u.delivery_complete_count,
        }),
    };
    if data["deliveryCompleteCount"] == json!(-1) {
        data.as_object_mut()
            .unwrap()
            .remove("deliveryCompleteCount");
    }
    let value = if data.is_null() {
        Value::Null
    } else {
        json!({"version": "0", "data": data})
    };
    json!({
        "partition": record.partition, "segment": &*record.segment, "offset": record.offset,
        "timestamp": record.timestamp,
        "key": {"type": record_type, "data": {
            "groupId": &*decoded.key.group, "topicId": decoded.key.topic_id.to_base64(),
            "partition": decoded.key.partition,
        }},
        "value": value,
    })
}

#[test]
fn every_record_is_read_as_kafkas_own_tool_read_it() {
    for (dir, expected) in recordings() {
        let dump = File::open(dir.join("dump.jsonl.gz")).unwrap();
        let lines = BufReader::new(GzDecoder::new(BufReader::new(dump))).lines();
        let mut records = scan(&dir).unwrap();
        let mut compared = 0;
        for line in lines {
            let printed: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let record = records.next().unwrap().unwrap();
            assert_eq!(dump_line(&record), printed);
            compared += 1;
        }
        assert!(records.next().is_none());
        assert_eq!(records.findings(), []);
        assert_eq!(compared, expected);
    }
}

#[test]
fn the_folded_states_are_what_the_brokers_answered() {
    for (dir, _) in recordings() {
        let mut states = states_of(&dir);
        let reads = std::fs::read(dir.join("reads.json")).unwrap();
        let answers: Vec<Value> = serde_json::from_slice(&reads).unwrap();
        assert_eq!(answers.len(), 6);
        let mut present = 0;
        for answer in &answers {
            let topic_id = TopicId::parse(answer["topic_id"].as_str().unwrap()).unwrap();
            let partition = i32::try_from(answer["partition"].as_i64().unwrap()).unwrap();
            let key =
                SharePartitionKey::new(answer["group"].as_str().unwrap(), topic_id, partition);
            let state = states.remove(&key);
            if answer["read"]["error"] == 42 {
                assert_eq!(state, None, "{key:?} was deleted");
                continue;
            }
            let state = state.unwrap();
            assert!(!state.incomplete);
            let batches: Vec<_> = state
                .state_batches
                .iter()
                .map(|b| {
                    json!([
                        b.first_offset,
                        b.last_offset,
                        b.delivery_state,
                        b.delivery_count
                    ])
                })
                .collect();
            assert_eq!(answer["read"]["batches"], json!(batches), "{key:?}");
            assert_eq!(
                answer["summary"],
                json!({
                    "error": 0, "state_epoch": state.state_epoch, "leader_epoch": state.leader_epoch,
                    "start_offset": state.start_offset, "delivery_complete_count": state.delivery_complete_count,
                })
            );
            assert_eq!(answer["read"]["state_epoch"], json!(state.state_epoch));
            assert_eq!(answer["read"]["start_offset"], json!(state.start_offset));
            present += 1;
        }
        assert_eq!(present, 4);
        assert_eq!(states, States::new(), "no state but those the broker has");
    }
}

/// The log start offsets that the broker noted.
fn log_starts(dir: &Path) -> BTreeMap<u32, i64> {
    let text = std::fs::read_to_string(dir.join("log-start-offset-checkpoint")).unwrap();
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("__share_group_state "));
    lines
        .map(|line| {
            let (partition, offset) = line.split_once(' ').unwrap();
            (partition.parse().unwrap(), offset.parse().unwrap())
        })
        .collect()
}

#[test]
fn records_below_the_log_start_make_no_difference() {
    let mut below = 0;
    for (dir, _) in recordings() {
        let starts = log_starts(&dir);
        let mut states: BTreeMap<SharePartitionKey, Option<ShareGroupOffset>> = BTreeMap::new();
        for record in scan(&dir).unwrap() {
            let record = record.unwrap();
            if record.offset < starts.get(&record.partition).copied().unwrap_or(0) {
                below += 1;
                continue;
            }
            let Some(Decoded::Record(decoded)) = record.decode().unwrap() else {
                panic!("{record:?}")
            };
            ShareGroupOffset::fold(states.entry(decoded.key).or_default(), &decoded.value);
        }
        let from_log_start: States = states
            .into_iter()
            .filter_map(|(key, state)| Some((key, state?)))
            .collect();
        assert_eq!(from_log_start, states_of(&dir));
    }
    assert_eq!(below, 84 + 424 + 636);
}

#[test]
fn each_folder_and_each_segment_can_be_read_by_itself() {
    for (dir, expected) in recordings() {
        let mut records = [0, 0];
        for partition in 0..3 {
            let folder = dir.join(format!("__share_group_state-{partition}"));
            let segment = folder.join("00000000000000000000.log");
            assert_eq!(segment.extension(), Some(OsStr::new("log")));
            for (path, records) in [folder, segment].iter().zip(&mut records) {
                let of_it: Vec<_> = scan(path).unwrap().map(Result::unwrap).collect();
                assert!(of_it.iter().all(|record| record.partition == partition));
                *records += of_it.len();
            }
        }
        assert_eq!(records, [expected, expected]);
    }
}

#[test]
fn a_brokers_states_can_be_taken_over_into_a_store() {
    for (dir, _) in recordings() {
        let states = states_of(&dir);
        let root = tempfile::tempdir().unwrap();
        let config = StoreConfig {
            partitions: Some(3),
            ..StoreConfig::default()
        };
        let store = StateStore::open(root.path(), &config, |_| ControlFlow::Continue(())).unwrap();
        let wall = WallTime(1_795_254_400_000);
        for (key, state) in &states {
            let (state_epoch, start_offset) = (state.state_epoch, state.start_offset);
            store
                .initialize(
                    key,
                    &InitializeState {
                        state_epoch,
                        start_offset,
                    },
                    wall,
                )
                .unwrap();
            let request = WriteState {
                state_epoch,
                leader_epoch: state.leader_epoch,
                start_offset,
                delivery_complete_count: state.delivery_complete_count,
                state_batches: state.state_batches.to_vec(),
            };
            store.write(key, &request, wall).unwrap();
        }
        drop(store);
        let store = StateStore::open(root.path(), &config, |_| ControlFlow::Continue(())).unwrap();
        for (key, state) in &states {
            let read = store
                .read(key, &ReadState { leader_epoch: 0 }, wall)
                .unwrap();
            assert_eq!(read.state_batches, state.state_batches.to_vec());
            assert_eq!(
                (read.state_epoch, read.start_offset),
                (state.state_epoch, state.start_offset)
            );
            let summary = store.summary(key).unwrap();
            assert_eq!(
                summary.delivery_complete_count,
                state.delivery_complete_count
            );
        }
        assert_eq!(
            states_of(root.path()).len(),
            states.len(),
            "a store is read like a broker's directory"
        );
    }
}
