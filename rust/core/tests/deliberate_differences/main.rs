//! Deliberate differences between share_state and Kafka: a scenario for each, and the page that explains them,
//! `docs/deliberate-differences.md`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

#[cfg(test)]
#[path = "../common/mod.rs"]
mod common;
#[cfg(test)]
mod fold;
#[cfg(test)]
mod groups;
#[cfg(test)]
mod holes;
#[cfg(test)]
mod own_rules;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod window;

use std::collections::BTreeSet;
use std::path::Path;

const PAGE: &str = "../../docs/deliberate-differences.md";

/// Makes the tests of a module's differences, and the list of their ids and names: over both stores, or once where no
/// share partition is concerned.
#[macro_export]
macro_rules! differences {
    (both stores: $($id:ident $name:ident),* $(,)?) => {
        $crate::on_both_stores!($($name),*);
        pub const DIFFERENCES: &[(&str, &str)] = &[$((stringify!($id), stringify!($name))),*];
    };
    (once: $($id:ident $name:ident),* $(,)?) => {
        mod once { $(#[test] fn $name() { super::$name(); })* }
        pub const DIFFERENCES: &[(&str, &str)] = &[$((stringify!($id), stringify!($name))),*];
    };
}

fn tested() -> Vec<(&'static str, &'static str)> {
    [
        window::DIFFERENCES,
        holes::DIFFERENCES,
        requests::DIFFERENCES,
        fold::DIFFERENCES,
        own_rules::DIFFERENCES,
        sessions::DIFFERENCES,
        groups::DIFFERENCES,
    ]
    .concat()
}

/// The sections of the page by id: `## K1. Title`, and what follows up to the next.
fn sections(page: &str) -> Vec<(&str, &str)> {
    page.split("\n## ")
        .skip(1)
        .map(|section| {
            let (id, _) = section.split_once(". ").expect("`## ID. Title`");
            (id, section)
        })
        .collect()
}

#[test]
fn every_difference_on_the_page_has_a_scenario_and_every_scenario_a_section() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(path).unwrap();
    let tested = tested();
    let sections = sections(&page);
    let ids: Vec<&str> = tested.iter().map(|(id, _)| *id).collect();
    let on_the_page: Vec<&str> = sections.iter().map(|(id, _)| *id).collect();
    assert_eq!(
        on_the_page, ids,
        "the ids of the page and of the tests, in order"
    );
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    for ((id, section), (_, name)) in sections.iter().zip(&tested) {
        assert!(
            section.contains(&format!("`{name}`")),
            "{id} does not name {name}"
        );
        for part in ["Kafka: ", "share_state: ", "Why: "] {
            assert!(
                section.contains(&format!("\n- {part}")),
                "{id} lacks `{part}`"
            );
        }
    }
}

#[test]
fn what_the_notes_on_known_bugs_ask_for_is_all_here() {
    let asked = [
        "K1", "K2", "K3", "K4", "K5", "K6", "V1", "V2", "V3", "V4", "V5", "V6", "M1", "M2", "I1",
    ];
    for id in asked {
        assert!(tested().iter().any(|(tested, _)| *tested == id), "{id}");
    }
}
