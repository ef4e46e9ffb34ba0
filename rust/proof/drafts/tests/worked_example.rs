//! The worked example of the proposal, on the engine: what each step writes in each form, and the page that shows it.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly")]

mod common;

use std::fmt::Write as _;
use std::path::Path;

use common::engine::Engine;
use common::{Logs, Written};
use share_state_core::persister::WriteState;
use share_state_core::record_state::{AcknowledgeType, RecordState};
use share_state_core::records::ShareValue;
use share_state_core::share_partition::FetchedBatch;
use share_state_core::state_batch::StateBatch;
use share_state_drafts::control::ControlBody;
use share_state_drafts::state_topic::CheckpointEpochWidth;

const PAGE: &str = "../../../docs/earlier-formats.md";
const BEGIN: &str = "<!-- example -->\n";
const END: &str = "<!-- end of example -->\n";
/// Few enough for a checkpoint among the deltas of the example.
const DELTAS_PER_CHECKPOINT: u16 = 4;

/// An operation on the share partition.
type Operation = fn(&mut Engine);

fn fetch(engine: &mut Engine, member: &str, first: i64, last: i64, records: u32) {
    let fetched = [FetchedBatch::plain(first, last)];
    engine.fetch(member, &fetched, records);
}

/// The operations of the proposal, with the start offset after each, and whether it writes.
const STEPS: [(&str, Operation, i64, bool); 11] = [
    (
        "fetch 100–109",
        |e| fetch(e, "one", 100, 109, 10),
        100,
        false,
    ),
    (
        "acknowledge 100–109",
        |e| e.acknowledge("one", 100, 109, AcknowledgeType::Accept),
        110,
        true,
    ),
    (
        "fetch 110–119: consumer 1 gets 110–112, consumer 2 gets 113–118, consumer 3 gets 119",
        |e| {
            fetch(e, "one", 110, 119, 3);
            e.pass(10_000);
            fetch(e, "two", 110, 119, 6);
            fetch(e, "three", 110, 119, 1);
        },
        110,
        false,
    ),
    (
        "release 110 (consumer 1)",
        |e| e.acknowledge("one", 110, 110, AcknowledgeType::Release),
        110,
        true,
    ),
    (
        "acknowledge 119 (consumer 3)",
        |e| e.acknowledge("three", 119, 119, AcknowledgeType::Accept),
        110,
        true,
    ),
    (
        "fetch 110 and 120 (consumer 1)",
        |e| {
            let fetched = [FetchedBatch::plain(110, 119), FetchedBatch::plain(120, 120)];
            assert_eq!(e.fetch("one", &fetched, 2), [(110, 110), (120, 120)]);
        },
        110,
        false,
    ),
    (
        "lock time-out of 111 and 112",
        |e| e.pass(20_000),
        110,
        true,
    ),
    (
        "acknowledge 113–118 (consumer 2)",
        |e| e.acknowledge("two", 113, 118, AcknowledgeType::Accept),
        110,
        true,
    ),
    (
        "fetch 111 and 112 (consumer 3)",
        |e| fetch(e, "three", 111, 112, 2),
        110,
        false,
    ),
    (
        "acknowledge 110 (consumer 1)",
        |e| e.acknowledge("one", 110, 110, AcknowledgeType::Accept),
        111,
        true,
    ),
    (
        "acknowledge 111 and 112 (consumer 3)",
        |e| e.acknowledge("three", 111, 112, AcknowledgeType::Accept),
        120,
        true,
    ),
];

/// Runs the example; the rows of its table, and the logs that it leaves.
fn example() -> (Vec<[String; 6]>, Logs) {
    let mut logs = Logs::begin(
        &[("G1", 100)],
        DELTAS_PER_CHECKPOINT,
        CheckpointEpochWidth::U32,
    );
    let mut engine = Engine::begin(100);
    let begun = Written {
        control: logs.control[0].record.clone(),
        state_topic: logs.state_topic[0].record.clone(),
        kafka: logs.kafka[0].clone(),
    };
    let mut rows = vec![row(
        "begin at 100",
        &engine,
        "start 100".to_owned(),
        Some(&begun),
    )];
    for (name, operation, start_offset, is_written) in STEPS {
        operation(&mut engine);
        let writes = engine.writes();
        assert_eq!(writes.len(), usize::from(is_written), "{name}");
        let write = writes.first();
        let written = write.map(|write| logs.write(0, write));
        let told = write.map(|write: &WriteState| {
            stated(
                &format!("start {}", write.start_offset),
                &write.state_batches,
            )
        });
        rows.push(row(
            name,
            &engine,
            told.unwrap_or_default(),
            written.as_ref(),
        ));

        assert_eq!(engine.partition.start_offset(), start_offset, "{name}");
        for (form, state) in logs.replayed(0).iter().enumerate() {
            assert_eq!(state.start_offset(), start_offset, "{name}: form {form}");
            assert_eq!(*state, engine.left(), "{name}: form {form}");
        }
    }
    (rows, logs)
}

/// A row: operation, state, write, and the record in each form.
fn row(name: &str, engine: &Engine, write: String, written: Option<&Written>) -> [String; 6] {
    let start = format!("start {}", engine.partition.start_offset());
    let state = stated(&start, &engine.runs());
    let records = written.map_or_else(Default::default, records);
    let [control, topic, kafka] = records;
    [name.to_owned(), state, write, control, topic, kafka]
}

fn records(written: &Written) -> [String; 3] {
    let control = &written.control;
    let epoch = control.checkpoint_epoch;
    let control = match &control.body {
        ControlBody::Checkpoint {
            start_offset,
            end_offset,
            states,
        } => stated(
            &format!("`SHARE_CHECKPOINT` epoch {epoch}, start {start_offset}, end {end_offset}"),
            states,
        ),
        ControlBody::Delta { states } => stated(&format!("`SHARE_DELTA` epoch {epoch}"), states),
    };
    let value = written.state_topic.value.as_ref().unwrap();
    let (epoch, start) = (value.checkpoint_epoch, value.start_offset);
    let head = match written.state_topic.key.delta_index {
        None => format!("`ShareCheckpoint` epoch {epoch}, start {start}"),
        Some(index) => format!("`ShareDelta` {index} epoch {epoch}, start {start}"),
    };
    let topic = stated(&head, &value.states);
    let kafka = match &written.kafka.value {
        ShareValue::Snapshot(s) => stated(
            &format!(
                "`ShareSnapshot` epoch {}, start {}",
                s.snapshot_epoch, s.start_offset
            ),
            &s.state_batches,
        ),
        ShareValue::Update(u) => stated(
            &format!(
                "`ShareUpdate` epoch {}, start {}",
                u.snapshot_epoch, u.start_offset
            ),
            &u.state_batches,
        ),
        ShareValue::Tombstone => "tombstone".to_owned(),
    };
    [control, topic, kafka]
}

/// `head; 110–112 AVAILABLE 1; …`.
fn stated(head: &str, states: &[StateBatch]) -> String {
    let mut text = head.to_owned();
    for state in states {
        let name = RecordState::from_id(state.delivery_state).unwrap().name();
        let (first, last) = (state.first_offset, state.last_offset);
        let range = if first == last {
            first.to_string()
        } else {
            format!("{first}–{last}")
        };
        let _ = write!(text, "; {range} {name} {}", state.delivery_count);
    }
    text
}

fn table(rows: &[[String; 6]]) -> String {
    let mut table =
        "| operation | state | write | control record | draft of `__share_group_state` | Kafka |\n\
                     |---|---|---|---|---|---|\n"
            .to_owned();
    for row in rows {
        let _ = writeln!(table, "| {} |", row.join(" | "));
    }
    table
}

/// `UPDATE_DOCS=1 cargo test -p share-state-drafts --test worked_example` writes the table again.
#[test]
fn the_page_shows_the_example() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (shown, tail) = rest.split_once(END).unwrap();
    let table = table(&example().0);
    if std::env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1") {
        std::fs::write(&path, format!("{head}{BEGIN}{table}{END}{tail}")).unwrap();
    } else {
        assert_eq!(shown, table, "run this test once with UPDATE_DOCS=1");
    }
}

/// States of the end and between are those that the proposal itself names, and every form wrote both kinds of record.
#[test]
fn the_example_ends_as_in_the_proposal() {
    let (rows, mut logs) = example();
    assert_eq!(rows.len(), 12);
    let states: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(
        states[4],
        "start 110; 110 AVAILABLE 1; 111–112 ACQUIRED 1; 113–118 ACQUIRED 1; 119 ACQUIRED 1"
    );
    assert_eq!(
        states[7],
        "start 110; 110 ACQUIRED 2; 111–112 AVAILABLE 1; 113–118 ACQUIRED 1; 119 ACKNOWLEDGED 1; 120 ACQUIRED 1"
    );
    assert_eq!(states[11], "start 120; 120 ACQUIRED 1");
    for (column, kinds) in [
        (3, ["`SHARE_CHECKPOINT`", "`SHARE_DELTA`"]),
        (4, ["`ShareCheckpoint`", "`ShareDelta`"]),
        (5, ["`ShareSnapshot`", "`ShareUpdate`"]),
    ] {
        let counts = kinds.map(|kind| {
            rows.iter()
                .filter(|row| row[column].starts_with(kind))
                .count()
        });
        assert_eq!(counts, [2, 6], "{kinds:?}");
    }

    let before = logs.replayed(0);
    let taken = share_state_drafts::control::clean(&mut logs.control);
    assert_eq!((taken, logs.control.len()), (5, 3));
    let end = logs.next_offset();
    let taken = share_state_drafts::state_topic::compact(&mut logs.state_topic, end);
    assert_eq!(
        (taken, logs.state_topic.len()),
        (3, 5),
        "two deltas of the first checkpoint have no successor"
    );
    assert_eq!(logs.replayed(0), before);
}
