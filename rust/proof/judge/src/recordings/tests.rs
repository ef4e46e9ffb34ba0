//! Our copies of the recordings, and all of them where they are: each file with all that it holds.

use std::path::{Path, PathBuf};

use super::cases::Cases;
use super::partition::Played;
use super::{Report, cases, play_file};

/// Names a folder with more recordings, outside the repository: then they are required.
const SWITCH: &str = "SHARE_STATE_RECORDINGS";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn copies() -> PathBuf {
    repository().join("tests/data/conformance")
}

/// The folder of all recordings, if it is named.
fn all() -> Option<PathBuf> {
    let named = std::env::var_os(SWITCH).filter(|named| !named.is_empty())?;
    Some(repository().join(named).join("conformance"))
}

/// File; scenarios, operations, operations compared, scenarios with a split lock, scenarios left. Then of the durable forms: reads
/// and writes that a store answered, times that it was opened again and compared with the share partition.
type Partitions = (&'static str, [usize; 5], [usize; 4]);

fn partitions_agree(directory: &Path, files: &[Partitions]) {
    for (name, expected, of_durable) in files {
        let Report::Partitions(played) = play_file(&directory.join(name)).unwrap() else {
            panic!("{name} is no recording of share partitions");
        };
        println!("{name} {played}");
        assert_eq!(played.differ(), 0, "{name} {played}");
        let left = played.left.values().sum();
        let Played {
            scenarios,
            operations,
            compared,
            split,
            durable,
            ..
        } = played;
        let counted = [scenarios, operations, compared, split, left];
        assert_eq!(counted, *expected, "{name}");
        let counted = [
            durable.reads,
            durable.written,
            durable.reopened,
            durable.compared,
        ];
        assert_eq!(counted, *of_durable, "{name}");
    }
}

fn played(path: &Path) -> Cases {
    match play_file(path).unwrap() {
        Report::Cases(cases) => cases,
        Report::Partitions(_) => panic!("{} is no file of cases", path.display()),
    }
}

/// File; scenarios, their operations, scenarios left.
type Others = (&'static str, [usize; 3]);

const CASES: [Others; 3] = [
    ("share_coordinator_shard_4.2.json", [20, 90, 1]),
    ("share_coordinator_shard_trunk.json", [30, 141, 0]),
    ("share_session_trunk.json", [20, 91, 0]),
];

fn cases_agree(directory: &Path, suffix: &str) {
    for (name, expected) in CASES {
        let cases = played(&directory.join(format!("{name}{suffix}")));
        println!("{name} {cases}");
        assert_eq!(cases.differ(), 0, "{name} {cases}");
        let run = cases.run();
        let counted = [run, cases.operations, cases.cases.len() - run];
        assert_eq!(counted, expected, "{name}");
    }
}

#[test]
fn our_copies_agree() {
    let files = [
        (
            "share_partition_trunk.json.gz",
            [161, 1071, 1071, 0, 28],
            [308, 282, 644, 612],
        ),
        (
            "share_partition_fuzz_trunk.json.gz",
            [54, 4485, 4064, 6, 0],
            [276, 876, 216, 628],
        ),
        (
            "probes_reference_quirks.json.gz",
            [42, 311, 265, 0, 0],
            [72, 64, 168, 156],
        ),
    ];
    partitions_agree(&copies(), &files);
    cases_agree(&copies(), ".gz");
}

#[test]
fn all_recordings_agree() {
    let Some(directory) = all() else {
        // The copies are what there is.
        return;
    };
    let files = [
        (
            "share_partition_trunk.json",
            [161, 1071, 1071, 0, 28],
            [308, 282, 644, 612],
        ),
        (
            "share_partition_fuzz_trunk.json.gz",
            [386, 30808, 29292, 16, 0],
            [2040, 6620, 1544, 5134],
        ),
        (
            "probes_reference_quirks.json",
            [42, 311, 265, 0, 0],
            [72, 64, 168, 156],
        ),
    ];
    partitions_agree(&directory, &files);
    cases_agree(&directory, "");
}

#[test]
fn what_came_of_each_case_is_told() {
    let told = cases(&copies().join("share_coordinator_shard_4.2.json.gz")).unwrap();
    let told = told.as_array().unwrap();
    assert_eq!(told.len(), 21);
    let (left, ran): (Vec<_>, Vec<_>) = told.iter().partition(|case| case.get("left").is_some());
    assert_eq!((left.len(), ran.len()), (1, 20));
    assert_eq!(left[0]["announced"], true);
    assert_eq!(
        left[0]["left"],
        "pre-4.4 rule: a negative epoch is not answered 42"
    );
    for case in ran {
        assert!(!case["name"].as_str().unwrap().is_empty());
        assert_eq!(case["differences"], serde_json::json!([]));
    }
    assert!(cases(&copies().join("combiner_table.json.gz")).is_err());
}
