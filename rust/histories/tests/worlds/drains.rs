//! A drain finds what it finds, whatever other drains there are: the check passes over those that cannot find anything new.

use std::collections::BTreeMap;

use crate::support::{Chance, Fault, World};
use share_state_histories::{Check, Reader, Settings, check};

/// The first drain that finds each record, by offset.
fn found(lines: &[String]) -> BTreeMap<i64, i64> {
    let mut reader = Reader::new();
    for line in lines {
        reader.line(line.as_bytes()).unwrap();
    }
    let history = reader.finish();
    let mut found = BTreeMap::new();
    for one in check(&history, &Settings::default()).violations {
        let drained = one.excerpt.iter().map(|&at| &history.events[at as usize]);
        let mut drained = drained.filter(|event| history.line(event, None).contains("drained"));
        if let (Check::H3, Some(span), Some(event)) = (one.check, one.span, drained.next_back()) {
            found.extend((span.first..=span.last.min(10_000)).map(|offset| (offset, event.t)));
        }
    }
    found
}

fn time_of(line: &str) -> i64 {
    serde_json::from_str::<serde_json::Value>(line).unwrap()["t"]
        .as_i64()
        .unwrap()
}

/// A line that goes where another one is.
fn beside(line: &str, kind: &str, rest: &str) -> String {
    format!(r#"{{"type":"{kind}","t":{}{rest}}}"#, time_of(line))
}

/// A history with resets in it, and where its drains come, in ascending order.
fn story(seed: u64) -> (Vec<String>, Vec<usize>) {
    let faults = [
        None,
        Some(Fault::LosesARecord),
        Some(Fault::ForgetsAnEnd),
        Some(Fault::AppliesHalf),
    ];
    let mut chance = Chance(seed);
    let fault = faults[chance.below(4) as usize];
    let mut lines = World::new(seed, fault).play().lines;
    lines.retain(|line| !line.contains(r#""drained""#));
    for epoch in 1..=chance.below(3) {
        let at = chance.below(lines.len() as i64) as usize;
        let start = chance.below(20);
        let rest = format!(
            r#","group":"g","topic":"t","partition":0,"start_offset":{start},"state_epoch":{epoch}"#
        );
        lines.insert(at, beside(&lines[at], "reset", &rest));
    }
    let mut drains: Vec<usize> = (0..12)
        .map(|_| chance.below(lines.len() as i64) as usize)
        .collect();
    drains.sort_unstable();
    drains.dedup();
    (lines, drains)
}

fn with_drains(lines: &[String], drains: &[usize]) -> Vec<String> {
    let mut lines = lines.to_vec();
    for &at in drains.iter().rev() {
        lines.insert(at, beside(&lines[at], "drained", ""));
    }
    lines
}

/// `SEEDS=100000` plays more of them.
#[test]
fn many_drains_find_what_each_finds_alone() {
    let seeds: u64 = std::env::var("SEEDS").map_or(40, |n| n.parse().unwrap());
    // A request that was sent before a drain and answered after it, and one that another clock saw before it.
    let rare = [1303, 1700];
    let (mut by_the_first, mut by_a_later) = (0, 0);
    for seed in (0..seeds).chain(rare) {
        let (lines, drains) = story(seed);
        let mut alone = BTreeMap::new();
        for &drain in &drains {
            for (offset, t) in found(&with_drains(&lines, &[drain])) {
                alone.entry(offset).or_insert(t);
            }
        }
        assert_eq!(found(&with_drains(&lines, &drains)), alone, "seed {seed}");
        let first = time_of(&lines[drains[0]]);
        by_the_first += alone.values().filter(|&&t| t == first).count();
        by_a_later += alone.values().filter(|&&t| t != first).count();
    }
    assert!(
        by_the_first > 100 && by_a_later > 100,
        "{by_the_first} {by_a_later}"
    );
}
