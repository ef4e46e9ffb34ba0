//! Any bytes as the lines of a history: a line that is none is refused by its number and its field, what was read is written again
//! so that it reads the same, and every check comes to an end.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use share_state_histories::{History, NotAHistory, Reader, Settings, check};

/// Settings that a caller may ask for: the defaults, nothing allowed, and everything.
const SETTINGS: [Option<(i64, i64, i64)>; 3] =
    [None, Some((1, 0, 0)), Some((i64::MAX, i64::MAX, i64::MAX))];

/// Runs one input; tells whether it has at least one event.
pub fn run(data: &[u8]) -> bool {
    let mut reader = Reader::new();
    for (number, line) in (1..).zip(data.split_inclusive(|&byte| byte == b'\n')) {
        if let Err(refused) = reader.line(line) {
            assert_eq!(refused.line, number);
            names_its_field(&refused, line);
        }
    }
    let history = reader.finish();
    let written = lines(&history);
    let mut again = Reader::new();
    for line in &written {
        assert_eq!(again.line(line.as_bytes()), Ok(()), "{line}");
    }
    assert_eq!(lines(&again.finish()), written);
    for settings in SETTINGS {
        let settings = settings.map_or_else(Settings::default, |(delivery_limit, skew, within)| {
            Settings {
                delivery_limit,
                skew,
                within,
            }
        });
        for violation in check(&history, &settings).violations {
            assert!(!violation.excerpt.is_empty(), "{violation:?}");
            let last = violation.excerpt.iter().max().map(|&at| at as usize);
            assert!(last < Some(history.events.len()), "{violation:?}");
            assert!(violation.span.is_none_or(|span| span.first <= span.last));
        }
    }
    !history.events.is_empty()
}

fn lines(history: &History) -> Vec<String> {
    let events = history.events.iter();
    events.map(|event| history.line(event, None)).collect()
}

/// Asserts that a refused object names a field that is wrong: one that it has, or one that is missing.
fn names_its_field(refused: &NotAHistory, line: &[u8]) {
    let object = str::from_utf8(line.trim_ascii())
        .ok()
        .and_then(|line| serde_json::from_str::<BTreeMap<String, Option<IgnoredAny>>>(line).ok());
    let Some(field) = refused.field else {
        assert_eq!(object, None, "{refused}");
        return;
    };
    let found = object.as_ref().and_then(|object| object.get(field));
    let is_there = found.is_some_and(Option::is_some);
    assert_eq!(is_there, refused.reason != "missing", "{refused}");
}
