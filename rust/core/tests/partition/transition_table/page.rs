//! The page about the state machine is made from the table.

use std::fmt::Write as _;
use std::path::Path;

use share_state_core::record_state::{LockRule, TABLE, When};

const PAGE: &str = "../../docs/state-machine.md";

/// `LogStartMove` as `log start move`.
fn words(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.extend(c.to_lowercase());
    }
    text
}

fn page() -> String {
    let mut page = include_str!("state-machine-head.md").to_owned();
    page += "| from | phase | trigger | below start offset | attempts over | dead-letter queue | to | phase | lock |\n";
    page += "|---|---|---|---|---|---|---|---|---|\n";
    for row in TABLE {
        let [below, over, queue] = [
            row.below_start_offset,
            row.attempts_over,
            row.dead_letter_queue,
        ]
        .map(|when| match when {
            When::Any => "",
            When::Yes => "yes",
            When::No => "no",
        });
        let lock = match row.lock {
            LockRule::Take => "takes a new one",
            LockRule::Keep => "stays",
            LockRule::End => "ends",
        };
        let phase = words(&format!("{:?}", row.phase));
        let to_phase = words(&format!("{:?}", row.to_phase));
        let trigger = words(&format!("{:?}", row.trigger));
        let (from, to) = (row.from.name(), row.to.name());
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| {from} | {phase} | {trigger} | {below} | {over} | {queue} | {to} | {to_phase} | {lock} |"
        );
    }
    let _ = writeln!(
        page,
        "\n{} rows. What is not here cannot happen.",
        TABLE.len()
    );
    page
}

/// `UPDATE_DOCS=1 cargo test -p share-state-core --test partition transition_table` writes the page again.
#[test]
fn the_page_about_the_state_machine_is_made_from_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("UPDATE_DOCS").is_some_and(|value| value == "1") {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written, page(), "run this test once with UPDATE_DOCS=1");
}
