//! Scenarios as text: one step a line, `command => what comes of it`.
//!
//! | command | what comes of it |
//! |---|---|
//! | `config locks=20 limit=5 lock=100 renew=off dlq=on` | `ok` |
//! | `init 10 [15-17 archived 1] …` | `active` |
//! | `acquire m1 0-9,10-19 at=0 max=500 size=500 mode=record_limit aborted=7@0` | `0-19:1` (offsets and delivery count), or `nothing` |
//! | `ack m1 0-4 accept, 5-9 reject` | `done`, or the write that the answer waits for; one word, or one an offset |
//! | `release m1` | number of records |
//! | `time 100` | number of records whose lock ran out |
//! | `ok w0`, `refuse w0 FENCED_LEADER_EPOCH` | Kafka's code for the member, and `fences` |
//! | `dlq d0` | `done` |
//! | `logstart 15` | `moved` or `ignored` |
//! | `deadline` | when the next lock runs out |
//! | `settled 20`, `settled` | whether nothing before 20, or in the window, is left to deliver or to settle |
//! | `answer w0` | Kafka's code for the member of a write, or `under way` |
//! | `window` | see [`super::view::window`] |
//!
//! Writes and dead letters that a step hands out follow after `+`: `w0 start 0 complete 1 [0 acknowledged 1]`,
//! `d0 5:1 ClientReject`. A log batch may be marked: `0-4t7` belongs to a transaction of producer 7, `5c7` and `5a7` are
//! its commit and abort markers. An error is its code and its name, the reason with the offset for a record's state.

use core::fmt::Debug;

use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::WriteToken;
use share_state_core::record_state::{AcknowledgeType, RecordState};
use share_state_core::share_partition::{
    AbortedTransaction, AcknowledgeError, AcquireMode, ControlType, FetchedBatch,
};

use super::lab::{Fetch, Lab, batch, read_result};
use super::view;

/// Plays a scenario and compares every step. Returns the lab as it stands then, and asserts that something was played.
pub fn play<S: InFlightStore>(text: &str) -> Lab<S> {
    let mut lab = Lab::empty(ShareGroupConfig::default());
    let mut steps = 0;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (command, expected) = line.split_once("=>").expect("`command => result`");
        let result = step(&mut lab, command.trim());
        assert_eq!(result, expected.trim(), "line {number}: {line}");
        steps += 1;
    }
    assert!(steps > 0, "a scenario without steps");
    lab
}

/// Takes one step; the text of what came of it.
pub fn step<S: InFlightStore>(lab: &mut Lab<S>, command: &str) -> String {
    let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
    let mut result = take(lab, verb, rest.trim());
    for (kind, token) in lab.news() {
        let text = match kind {
            'w' => view::write(&lab.writes[&token]),
            _ => view::dead_letter(&lab.dead_letters[&token]),
        };
        result += &format!(" + {kind}{token} {text}");
    }
    result
}

fn take<S: InFlightStore>(lab: &mut Lab<S>, verb: &str, rest: &str) -> String {
    match verb {
        "config" => {
            lab.configure(|config| configure(config, rest));
            "ok".to_owned()
        }
        "init" => initialize(lab, rest),
        "acquire" => {
            let (member, fetch) = fetch(rest);
            match lab.acquire(member, &fetch) {
                Ok(acquired) => view::acquired(&acquired),
                Err(error) => failure(error.kafka_code(), &error),
            }
        }
        "ack" => acknowledge(lab, rest),
        "release" => lab.release(rest).to_string(),
        "time" => lab.time(number(rest)).to_string(),
        "ok" => answer(lab, rest, KafkaCode::None),
        "refuse" => {
            let (token, code) = rest.split_once(' ').unwrap_or((rest, "NOT_COORDINATOR"));
            let code = KafkaCode::ALL.iter().find(|c| c.name() == code);
            answer(lab, token, *code.expect("a code of Kafka"))
        }
        "dlq" => match lab.dead_letter_done(token(rest)) {
            Ok(()) => "done".to_owned(),
            Err(error) => error.to_string(),
        },
        "logstart" => if lab.move_log_start(number(rest)) {
            "moved"
        } else {
            "ignored"
        }
        .to_owned(),
        "deadline" => lab
            .sp
            .poll_timeout()
            .map_or_else(|| "none".to_owned(), |at| at.0.to_string()),
        "window" => view::window(&lab.sp),
        "settled" if rest.is_empty() => lab.sp.is_settled().to_string(),
        "settled" => lab.sp.settled_to(number(rest)).to_string(),
        "answer" => match lab.sp.write_answer(WriteToken(token(rest))) {
            Ok(code) => code.map_or("under way", KafkaCode::name).to_owned(),
            Err(error) => error.to_string(),
        },
        other => panic!("no command {other}"),
    }
}

fn initialize<S: InFlightStore>(lab: &mut Lab<S>, rest: &str) -> String {
    let mut parts = rest.split('[');
    let start_offset = number(parts.next().unwrap_or_default().trim());
    let batches: Vec<_> = parts
        .map(|part| {
            let words: Vec<&str> = part.trim().trim_end_matches(']').split(' ').collect();
            let (first, last) = range(words[0]);
            let state = RecordState::ALL
                .into_iter()
                .find(|s| s.name().eq_ignore_ascii_case(words[1]));
            batch(
                first,
                last,
                state.expect("a state").id(),
                words[2].parse().unwrap(),
            )
        })
        .collect();
    lab.initialize(&read_result(start_offset, &batches));
    "active".to_owned()
}

fn acknowledge<S: InFlightStore>(lab: &mut Lab<S>, rest: &str) -> String {
    let (member, parts) = rest.split_once(' ').expect("a member and ranges");
    let batches: Vec<(i64, i64, Vec<i8>)> = parts
        .split(',')
        .map(|part| {
            let mut words = part.trim().split(' ');
            let (first, last) = range(words.next().unwrap_or_default());
            (first, last, words.map(acknowledge_type).collect())
        })
        .collect();
    let batches: Vec<(i64, i64, &[i8])> = batches
        .iter()
        .map(|(first, last, types)| (*first, *last, types.as_slice()))
        .collect();
    match lab.acknowledge(member, &batches) {
        Ok(None) => "done".to_owned(),
        Ok(Some(token)) => format!("w{token}"),
        Err(AcknowledgeError::InvalidRecordState { offset, reason, .. }) => {
            format!("121 {reason:?} at {offset}")
        }
        Err(error) => failure(error.kafka_code(), &error),
    }
}

fn answer<S: InFlightStore>(lab: &mut Lab<S>, name: &str, code: KafkaCode) -> String {
    match lab.answer(token(name), code) {
        Ok(answer) if answer.fences => format!("{} fences", answer.member_code.name()),
        Ok(answer) => answer.member_code.name().to_owned(),
        Err(error) => error.to_string(),
    }
}

fn configure(config: &mut ShareGroupConfig, rest: &str) {
    for word in rest.split(' ') {
        let (name, value) = word.split_once('=').expect("name=value");
        match name {
            "locks" => config.partition_max_record_locks = value.parse().unwrap(),
            "limit" => config.delivery_count_limit = value.parse().unwrap(),
            "lock" => config.record_lock_duration_ms = number(value),
            "renew" => config.renew_acknowledge_enable = value == "on",
            "dlq" => config.dead_letter_queue = value == "on",
            other => panic!("no setting {other}"),
        }
    }
}

fn fetch(rest: &str) -> (&str, Fetch) {
    let mut words = rest.split(' ');
    let member = words.next().unwrap_or_default();
    let mut fetch = Fetch::of(&[]);
    let log = words.next().expect("log batches");
    fetch.log = log.split(',').map(log_batch).collect();
    fetch.fetch_offset = fetch.log.first().map_or(0, |batch| batch.base_offset);
    for word in words {
        let (name, value) = word.split_once('=').expect("name=value");
        match name {
            "at" => fetch.fetch_offset = number(value),
            "max" => fetch.max_records = value.parse().unwrap(),
            "size" => fetch.batch_size = value.parse().unwrap(),
            "mode" if value == "record_limit" => fetch.mode = AcquireMode::RecordLimit,
            "aborted" => {
                let (producer, first) = value.split_once('@').expect("producer@offset");
                let transaction = AbortedTransaction {
                    producer_id: number(producer),
                    first_offset: number(first),
                };
                fetch.aborted.get_or_insert_default().push(transaction);
            }
            other => panic!("no argument {other}"),
        }
    }
    (member, fetch)
}

fn log_batch(text: &str) -> FetchedBatch {
    let mark = text.find(['t', 'c', 'a']);
    let (offsets, mark) = text.split_at(mark.unwrap_or(text.len()));
    let (first, last) = range(offsets);
    let plain = FetchedBatch::plain(first, last);
    if mark.is_empty() {
        return plain;
    }
    FetchedBatch {
        producer_id: number(&mark[1..]),
        is_transactional: true,
        control: match &mark[..1] {
            "c" => Some(ControlType::Commit),
            "a" => Some(ControlType::Abort),
            _ => None,
        },
        ..plain
    }
}

fn acknowledge_type(word: &str) -> i8 {
    AcknowledgeType::ALL
        .into_iter()
        .find(|t| format!("{t:?}").eq_ignore_ascii_case(word))
        .map_or_else(|| word.parse().unwrap(), |t| t as i8)
}

fn failure(code: KafkaCode, error: &impl Debug) -> String {
    let debug = format!("{error:?}");
    let name = debug.split([' ', '{']).next().unwrap_or_default();
    format!("{} {name}", code as i16)
}

fn range(text: &str) -> (i64, i64) {
    match text.split_once('-') {
        Some((first, last)) => (number(first), number(last)),
        None => (number(text), number(text)),
    }
}

fn token(text: &str) -> u64 {
    text[1..].parse().unwrap()
}

fn number(text: &str) -> i64 {
    text.parse().unwrap_or_else(|_| panic!("{text}: a number"))
}
