//! The embedded log, which has no operation log: what it reads and writes a second.
//!
//! `state_log replay --size RECORDS` folds segments of encoded updates, checks of their CRC included. `state_log durable --size
//! WRITERS` lets so many threads write durably, and appends the same bytes in as many pieces with a bare loop of write and
//! sync. Both print one JSON object; `--rounds N`, `--dir PATH` (a temporary one else).

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use share_state_benches::arguments::Arguments;
use share_state_benches::result::Report;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::{InitializeState, WriteState};
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareUpdate, ShareValue};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::WallTime;
use share_state_log::{StateStore, StoreConfig, SyncPolicy, read};
use share_state_wire::record_batch::{Compression, NewRecord, encode_batch};
use share_state_wire::state_record::{encode_key, encode_value};

const NOW: WallTime = WallTime(1_700_000_000_000);
const ACKNOWLEDGED: i8 = 2;

fn main() -> ExitCode {
    match run(&Arguments::of_process()) {
        Ok(report) => {
            println!("{}", report.to_json());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("state_log: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<Report, Box<dyn Error>> {
    let rounds = arguments.option("rounds", 5)?;
    let size = arguments.option("size", 64)?;
    let parent = arguments.option("dir", std::env::temp_dir().display().to_string())?;
    let dir = tempfile::tempdir_in(parent)?;
    let mut report = match arguments.word(0) {
        Some("replay") => replay(dir.path(), size, rounds)?,
        Some("durable") => durable(dir.path(), size, rounds)?,
        _ => return Err("replay or durable".into()),
    };
    report.engine = "tree".into();
    Ok(report)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn replay(dir: &Path, records: u64, rounds: usize) -> Result<Report, Box<dyn Error>> {
    let bytes = write_segments(dir, records)?;
    let mut report = Report::default();
    for _ in 0..rounds {
        let started = Instant::now();
        let folded = read::fold(dir, |_| ControlFlow::Continue(()))?;
        report.rounds.push(started.elapsed().as_nanos());
        if folded.records != records || !folded.findings.is_empty() {
            return Err(format!("{} records, {:?}", folded.records, folded.findings).into());
        }
    }
    let a_second = |spent: &u128| records as f64 * 1e9 / *spent as f64;
    let rates = report.rounds.iter().map(a_second).collect();
    report.persisted = (0, 0, bytes);
    report.more.insert("records_a_second", median(rates));
    Ok(report)
}

/// Updates of 1,000 share partitions in turn, a record of one state batch each, with a snapshot for every 500.
fn write_segments(dir: &Path, records: u64) -> Result<u64, Box<dyn Error>> {
    const KEYS: u64 = 1_000;
    const A_BATCH: u64 = 500;
    const SEGMENT_BYTES: u64 = 100 << 20;
    let folder = dir.join("__share_group_state-0");
    fs::create_dir_all(&folder)?;
    let (mut total, mut length, mut file) = (0, u64::MAX, None);
    for base in (0..records).step_by(A_BATCH as usize) {
        let made: Vec<(Vec<u8>, Option<Vec<u8>>)> = (base..records.min(base + A_BATCH))
            .map(|i| {
                let record = record(i % KEYS, i / KEYS);
                Ok((encode_key(&record)?, encode_value(&record.value)?))
            })
            .collect::<Result<_, Box<dyn Error>>>()?;
        let records: Vec<NewRecord<'_>> = made
            .iter()
            .map(|(key, value)| NewRecord {
                timestamp: NOW.0,
                key: Some(key),
                value: value.as_deref(),
            })
            .collect();
        let bytes = encode_batch(base as i64, 0, Compression::None, &records)?;
        if length >= SEGMENT_BYTES {
            file = Some(File::create(folder.join(format!("{base:020}.log")))?);
            length = 0;
        }
        if let Some(file) = &mut file {
            file.write_all(&bytes)?;
        }
        length += bytes.len() as u64;
        total += bytes.len() as u64;
    }
    Ok(total)
}

/// The `n`th record of a share partition: a record was accepted, and the start offset follows ten records behind.
fn record(key: u64, n: u64) -> ShareRecord {
    const A_SNAPSHOT: u64 = 500;
    let offset = n as i64;
    let start_offset = (offset - 10).max(0);
    let epoch = (n / A_SNAPSHOT) as i32;
    let state_batches = vec![StateBatch {
        first_offset: offset,
        last_offset: offset,
        delivery_state: ACKNOWLEDGED,
        delivery_count: 1,
    }];
    let value = if n.is_multiple_of(A_SNAPSHOT) {
        ShareValue::Snapshot(ShareSnapshot {
            snapshot_epoch: epoch,
            state_epoch: 0,
            leader_epoch: 0,
            start_offset,
            delivery_complete_count: 1,
            create_timestamp: NOW.0,
            write_timestamp: NOW.0,
            state_batches,
            unknown_tagged_fields: Vec::new(),
        })
    } else {
        ShareValue::Update(ShareUpdate {
            snapshot_epoch: epoch,
            leader_epoch: 0,
            start_offset,
            delivery_complete_count: 1,
            state_batches,
            unknown_tagged_fields: Vec::new(),
        })
    };
    ShareRecord {
        key: key_of(key),
        value,
    }
}

fn key_of(number: u64) -> SharePartitionKey {
    SharePartitionKey::new("group", TopicId([7; 16]), number as i32)
}

fn durable(dir: &Path, writers: u64, rounds: usize) -> Result<Report, Box<dyn Error>> {
    let mut report = Report::default();
    let (mut shares, mut rates) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let path = dir.join(format!("store-{round}"));
        let (spent, writes, commits, bytes) = write_durably(&path, writers)?;
        let bare = append_and_sync(&dir.join(format!("bare-{round}")), commits, bytes)?;
        shares.push(bare.as_secs_f64() / spent.as_secs_f64());
        rates.push(writes as f64 / spent.as_secs_f64());
        report.rounds.push(spent.as_nanos());
        report.persisted = (writes, commits, bytes);
    }
    report.more.insert("share_of_bare", median(shares));
    report.more.insert("writes_a_second", median(rates));
    Ok(report)
}

/// Time, writes, group commits and bytes.
fn write_durably(path: &Path, writers: u64) -> Result<(Duration, u64, u64, u64), Box<dyn Error>> {
    const EACH: i64 = 200;
    let config = StoreConfig {
        sync: SyncPolicy::Always,
        ..StoreConfig::default()
    };
    let store = StateStore::open(path, &config, |_| ControlFlow::Continue(()))?;
    let request = InitializeState {
        state_epoch: 0,
        start_offset: 0,
    };
    for writer in 0..writers {
        store.initialize(&key_of(writer), &request, NOW)?;
    }
    let before = store.counters();
    let started = Instant::now();
    let failed = std::thread::scope(|scope| {
        let write = |writer| {
            let store = &store;
            scope.spawn(move || {
                (0..EACH)
                    .try_for_each(|offset| store.write(&key_of(writer), &accepted(offset), NOW))
            })
        };
        let threads: Vec<_> = (0..writers).map(write).collect();
        threads
            .into_iter()
            .map(|thread| thread.join())
            .filter(|joined| !matches!(joined, Ok(Ok(()))))
            .count()
    });
    let spent = started.elapsed();
    if failed > 0 {
        return Err("a write failed".into());
    }
    let after = store.counters();
    store.close()?;
    Ok((
        spent,
        after.writes - before.writes,
        after.batches - before.batches,
        after.bytes - before.bytes,
    ))
}

fn accepted(offset: i64) -> WriteState {
    WriteState {
        state_epoch: 0,
        leader_epoch: 0,
        start_offset: offset,
        delivery_complete_count: 0,
        state_batches: vec![StateBatch {
            first_offset: offset,
            last_offset: offset,
            delivery_state: ACKNOWLEDGED,
            delivery_count: 1,
        }],
    }
}

/// The same bytes in as many pieces, each appended and synced.
fn append_and_sync(path: &Path, pieces: u64, bytes: u64) -> Result<Duration, Box<dyn Error>> {
    let piece = vec![7; (bytes / pieces) as usize];
    let mut file = File::create(path)?;
    let started = Instant::now();
    for _ in 0..pieces {
        file.write_all(&piece)?;
        file.sync_data()?;
    }
    Ok(started.elapsed())
}
