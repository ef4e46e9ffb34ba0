//! Lines of a history, and what the checker finds in them.

use share_state_histories::{Check, Reader, Report, Settings, check};

const PRODUCED: &str =
    r#"{"type":"produce","t":1000,"topic":"t","partition":0,"first":0,"last":9}"#;

/// A line, with times in ms.
pub fn line(t: i64, kind: &str, rest: &str) -> String {
    let t = t * 1_000_000;
    let place = match kind {
        "produce" | "retained" => r#""topic":"t","partition":0"#,
        "gone" | "drained" => r#""group":"g""#,
        _ => r#""group":"g","topic":"t","partition":0"#,
    };
    let comma = if rest.is_empty() { "" } else { "," };
    format!(r#"{{"type":"{kind}","t":{t},{place}{comma}{rest}}}"#)
}

pub fn grant(
    sent: i64,
    t: i64,
    member: &str,
    span: (i64, i64),
    count: i64,
    lock_ms: i64,
) -> String {
    let (sent, (first, last)) = (sent * 1_000_000, span);
    let rest = format!(
        r#""sent":{sent},"member":"{member}","first":{first},"last":{last},"delivery_count":{count},"lock_ms":{lock_ms}"#
    );
    line(t, "grant", &rest)
}

pub fn ack(sent: i64, t: i64, member: &str, ranges: &str, outcome: &str) -> String {
    let sent = sent * 1_000_000;
    let rest =
        format!(r#""sent":{sent},"member":"{member}","ranges":{ranges},"outcome":"{outcome}""#);
    line(t, "ack", &rest)
}

pub fn view(sent: i64, t: i64, rest: &str) -> String {
    line(t, "view", &format!(r#""sent":{},{rest}"#, sent * 1_000_000))
}

pub fn drained(t: i64) -> String {
    line(t, "drained", "")
}

pub fn reset(second: i64, start: i64, epoch: i64) -> String {
    let rest = format!(r#""start_offset":{start},"state_epoch":{epoch}"#);
    line(second * 1000, "reset", &rest)
}

/// The lines in the order of their times.
pub fn in_order(mut lines: Vec<String>) -> Vec<String> {
    let time = |line: &String| {
        let from = line.find(r#""t":"#).unwrap() + 4;
        let digits = line[from..].split(',').next().unwrap();
        digits.parse::<i64>().unwrap()
    };
    lines.sort_by_key(time);
    lines
}

/// An answer that shows nothing, long afterwards: the history goes on until then.
pub fn end() -> String {
    view(300_000, 300_000, r#""leader_epoch":0"#)
}

/// A member is there and nothing is locked.
pub fn polls() -> [String; 2] {
    [
        grant(2000, 2010, "b", (20, 20), 1, 1000),
        ack(2020, 2030, "b", "[[20,20,1]]", "ok"),
    ]
}

/// A member is given one record each second from `first` on, and accepts it.
pub fn steadily(first: i64, seconds: core::ops::Range<i64>) -> Vec<String> {
    let story = seconds.enumerate().flat_map(|(at, second)| {
        let offset = first + at as i64;
        let t = second * 1000;
        [
            grant(t, t + 5, "b", (offset, offset), 1, 30_000),
            ack(
                t + 10,
                t + 15,
                "b",
                &format!("[[{offset},{offset},1]]"),
                "ok",
            ),
        ]
    });
    story.collect()
}

/// The checks that find something, each once, and their excerpts by position.
pub fn found(lines: &[String]) -> Vec<(Check, Vec<u32>)> {
    found_with(&Settings::default(), lines)
}

fn found_with(settings: &Settings, lines: &[String]) -> Vec<(Check, Vec<u32>)> {
    let violations = report(settings, lines).violations.into_iter();
    let mut found: Vec<_> = violations
        .map(|violation| (violation.check, violation.excerpt))
        .collect();
    found.sort();
    found
}

pub fn report(settings: &Settings, lines: &[String]) -> Report {
    let mut reader = Reader::new();
    reader.line(PRODUCED.as_bytes()).unwrap();
    for line in lines {
        reader
            .line(line.as_bytes())
            .unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    check(&reader.finish(), settings)
}

pub fn checks(lines: &[String]) -> Vec<Check> {
    checks_with(&Settings::default(), lines)
}

pub fn checks_with(settings: &Settings, lines: &[String]) -> Vec<Check> {
    let found = found_with(settings, lines);
    let mut checks: Vec<Check> = found.into_iter().map(|(check, _)| check).collect();
    checks.dedup();
    checks
}
