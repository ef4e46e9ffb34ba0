//! Excerpts of a violation are short, whatever the events are.

use super::lines::{ack, grant};
use share_state_histories::{Reader, Settings, check};

/// An acknowledgement of every second of so many records, and then a delivery of all of them.
fn delivered_again(records: i64) -> (usize, usize) {
    let ranges: Vec<String> = (0..records / 2)
        .map(|n| format!("[{0},{0},1]", 2 * n))
        .collect();
    let all = (0, records - 1);
    let story = [
        grant(10, 20, "a", all, 1, 30_000),
        ack(30, 40, "a", &format!("[{}]", ranges.join(",")), "ok"),
        grant(50, 60, "a", all, 2, 30_000),
    ];
    let mut reader = Reader::new();
    for line in &story {
        reader.line(line.as_bytes()).unwrap();
    }
    let history = reader.finish();
    let report = check(&history, &Settings::default());
    let lines = report.violations.iter().flat_map(|violation| {
        let events = violation.excerpt.iter();
        events.map(|&at| {
            history
                .line(&history.events[at as usize], violation.span)
                .len()
        })
    });
    (report.violations.len(), lines.sum())
}

#[test]
fn an_excerpt_shows_the_ranges_that_concern_its_records() {
    let ((few, short), (many, long)) = (delivered_again(200), delivered_again(2000));
    assert!(few >= 100 && many >= 1000, "{few} and {many}");
    // As many times as long, and not the square of it.
    assert!(short * 9 < long && long < short * 11, "{short} and {long}");
}

#[test]
fn a_record_that_is_delivered_without_end_is_told_of_a_few_times() {
    let story: Vec<String> = (0..200)
        .map(|at| grant(at * 10, at * 10 + 5, "a", (0, 0), 1, 1000))
        .collect();
    let found = super::lines::found(&story);
    assert!((1..=16).contains(&found.len()), "{}", found.len());
}
