//! Breaks beside a fail-over: what a deposed leader and its successor may do explains none of them.

use serde_json::{Map, Value, json};

use crate::support::Chance;

type Line = Map<String, Value>;

/// The promise that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// A count rises by three.
    JumpsByThree,
    /// A count rises by two.
    JumpsByTwo,
    /// A count is one less.
    Falls,
    /// Another member is given what is held, and it counts.
    GivenWhileHeld,
    /// Another member is given what was accepted.
    GivenAfterAccept,
    /// Another member is given what was rejected.
    GivenAfterReject,
    /// The start offset is less than it was.
    StartGoesBack,
}

impl Break {
    pub const ALL: [Self; 7] = [
        Self::JumpsByThree,
        Self::JumpsByTwo,
        Self::Falls,
        Self::GivenWhileHeld,
        Self::GivenAfterAccept,
        Self::GivenAfterReject,
        Self::StartGoesBack,
    ];
}

const MS: i64 = 1_000_000;
/// The longest time from the first view of another leader to a break.
const NEAR: i64 = 1500 * MS;

fn number(line: &Line, name: &str) -> i64 {
    line.get(name).and_then(Value::as_i64).unwrap_or(-1)
}

fn is(line: &Line, kind: &str) -> bool {
    line["type"] == kind
}

/// The time of the first view of another leader.
fn taken_over(lines: &[Line]) -> Option<i64> {
    let views = || lines.iter().filter(|line| is(line, "view"));
    let first = number(views().next()?, "leader_epoch");
    let next = views().find(|line| number(line, "leader_epoch") > first)?;
    Some(number(next, "t"))
}

/// A history with a break beside its fail-over, if it has one, no reset, and a place where nothing else explains the break.
pub fn broken(sound: &[String], seed: u64, what: Break) -> Option<Vec<String>> {
    let read = |line: &String| serde_json::from_str(line).unwrap();
    let mut lines: Vec<Line> = sound.iter().map(read).collect();
    if lines.iter().any(|line| is(line, "reset")) {
        return None;
    }
    let seen = taken_over(&lines)?;
    let near: Vec<usize> = (0..lines.len())
        .filter(|&at| (number(&lines[at], "t") - seen).abs() < NEAR)
        .filter(|&at| fits(&lines, at, what) && is_plain(&lines, at, what))
        .collect();
    let mut chance = Chance(seed);
    let &at = near.get(chance.below(near.len() as i64) as usize)?;
    apply(&mut lines, at, what);
    lines.sort_by_key(|line| number(line, "t"));
    let text = |line: Line| Value::Object(line).to_string();
    Some(lines.into_iter().map(text).collect())
}

fn fits(lines: &[Line], at: usize, what: Break) -> bool {
    let line = &lines[at];
    let count = number(line, "delivery_count");
    match what {
        Break::JumpsByThree => is(line, "grant") && count < 3,
        Break::JumpsByTwo => is(line, "grant") && count < 4,
        Break::Falls => is(line, "grant") && count > 1,
        Break::GivenWhileHeld => is(line, "grant") && count < 5 && !is_over(lines, line),
        Break::GivenAfterAccept => ends(line, 1).is_some(),
        Break::GivenAfterReject => ends(line, 3).is_some(),
        Break::StartGoesBack => is(line, "view") && number(line, "start_offset") > 0,
    }
}

/// Returns true if nothing else can explain the break: nobody went, the log start did not pass the record, and it had each count
/// once and no acknowledgement whose outcome is unknown, or that was refused.
fn is_plain(lines: &[Line], at: usize, what: Break) -> bool {
    let line = &lines[at];
    let record = match what {
        Break::StartGoesBack => return true,
        Break::GivenAfterAccept => ends(line, 1).unwrap(),
        Break::GivenAfterReject => ends(line, 3).unwrap(),
        _ => number(line, "first"),
    };
    let mut counts: Vec<i64> = of(lines, record)
        .map(|line| number(line, "delivery_count"))
        .collect();
    counts.sort_unstable();
    let doubtful = |line: &Line| match line.get("ranges").and_then(Value::as_array) {
        Some(ranges) => {
            line["outcome"] != "ok"
                && ranges.iter().any(|range| {
                    (range[0].as_i64().unwrap()..=range[1].as_i64().unwrap()).contains(&record)
                })
        }
        None => is(line, "gone") || number(line, "from") > record,
    };
    counts.windows(2).all(|pair| pair[0] < pair[1]) && !lines.iter().any(doubtful)
}

/// The deliveries of a record.
fn of(lines: &[Line], record: i64) -> impl Iterator<Item = &Line> {
    let grants = lines.iter().filter(|line| is(line, "grant"));
    grants.filter(move |line| (number(line, "first")..=number(line, "last")).contains(&record))
}

/// The first record that a confirmed acknowledgement ends with this type.
fn ends(line: &Line, kind: i64) -> Option<i64> {
    let ranges = line.get("ranges").filter(|_| line["outcome"] == "ok")?;
    let mut ranges = ranges.as_array()?.iter();
    let range = ranges.find(|range| range[2] == kind)?;
    range[0].as_i64()
}

/// Returns true if a delivery may have been over 200 ms later: its member said something of it, or went.
fn is_over(lines: &[Line], grant: &Line) -> bool {
    let until = number(grant, "t") + 200 * MS;
    let own = lines
        .iter()
        .filter(|line| line.get("member") == Some(&grant["member"]));
    let mut others = own.filter(|line| is(line, "ack") || is(line, "gone"));
    let sent = |line: &Line| {
        line.get("sent")
            .and_then(Value::as_i64)
            .unwrap_or(number(line, "t"))
    };
    others.any(|line| sent(line) <= until && number(line, "t") >= number(grant, "sent"))
}

/// The highest count that anybody was given of a record by then.
fn highest(lines: &[Line], record: i64, by_then: i64) -> i64 {
    of(lines, record)
        .filter(|line| number(line, "sent") <= by_then)
        .map(|line| number(line, "delivery_count"))
        .max()
        .unwrap_or(0)
}

fn apply(lines: &mut Vec<Line>, at: usize, what: Break) {
    let line = lines[at].clone();
    let (t, count) = (number(&line, "t"), number(&line, "delivery_count"));
    let later = |line: &mut Line, t: i64| {
        line.insert("sent".into(), json!(t));
        line.insert("t".into(), json!(t + 5 * MS));
        line.insert("member".into(), json!("other"));
    };
    let mut rise = |by: i64| {
        lines[at].insert("delivery_count".into(), json!(count + by));
    };
    match what {
        Break::JumpsByThree => rise(3),
        Break::JumpsByTwo => rise(2),
        Break::Falls => rise(-1),
        Break::StartGoesBack => {
            let mut view = line.clone();
            view.insert("sent".into(), json!(t + 100 * MS));
            view.insert("t".into(), json!(t + 105 * MS));
            view.insert(
                "start_offset".into(),
                json!(number(&line, "start_offset") - 1),
            );
            lines.push(view);
        }
        Break::GivenWhileHeld => {
            let mut grant = line;
            grant.insert("delivery_count".into(), json!(count + 1));
            later(&mut grant, t + 100 * MS);
            lines.push(grant);
        }
        Break::GivenAfterAccept | Break::GivenAfterReject => {
            let kind = if what == Break::GivenAfterAccept {
                1
            } else {
                3
            };
            let record = ends(&line, kind).unwrap();
            let given = lines.iter().find(|line| is(line, "grant"));
            let mut grant = given.unwrap().clone();
            let count = highest(lines, record, t) + 1;
            grant.insert("first".into(), json!(record));
            grant.insert("last".into(), json!(record));
            grant.insert("delivery_count".into(), json!(count.min(5)));
            later(&mut grant, t + 100 * MS);
            lines.push(grant);
        }
    }
}
