//! Our copies of the recordings, and all of them where they are: each file with all that it holds.

use std::path::{Path, PathBuf};

use super::cases::{Cases, Outcome};
use super::{cases, play_file};

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

/// Scenarios, operations, scenarios left.
type Counts = [usize; 3];

/// Counts of share partitions: operations compared, scenarios with a split lock. Then of the durable forms: reads and writes that a
/// store answered, times that it was opened again and compared with the share partition.
type OfPartitions = ([usize; 2], [usize; 4]);

fn agrees(path: &Path, expected: Counts) -> Cases {
    let cases = play_file(path).unwrap();
    let name = path.display();
    for outcome in cases.outcomes() {
        assert_eq!(outcome.points, [], "{name}");
    }
    let counted = [
        cases.outcomes().count(),
        cases.sum(|outcome| outcome.operations),
        cases.left(),
    ];
    assert_eq!(counted, expected, "{name}");
    cases
}

const TRUNK: (Counts, OfPartitions) = ([161, 1071, 28], ([1071, 0], [308, 282, 644, 612]));
const PROBES: (Counts, OfPartitions) = ([42, 311, 0], ([265, 0], [72, 64, 168, 156]));

/// Files of a folder; `ending` is that of those that only our copies have compressed.
fn all_agree(directory: &Path, ending: &str, fuzz: (Counts, OfPartitions)) {
    for (name, (expected, of_partitions)) in [
        (format!("share_partition_trunk.json{ending}"), TRUNK),
        ("share_partition_fuzz_trunk.json.gz".to_owned(), fuzz),
        (format!("probes_reference_quirks.json{ending}"), PROBES),
    ] {
        let cases = agrees(&directory.join(&name), expected);
        let sum = |of: fn(&Outcome) -> usize| cases.sum(of);
        let counted = (
            [
                sum(|outcome| outcome.compared),
                sum(|outcome| usize::from(outcome.is_split)),
            ],
            [
                sum(|outcome| outcome.durable.reads),
                sum(|outcome| outcome.durable.written),
                sum(|outcome| outcome.durable.reopened),
                sum(|outcome| outcome.durable.compared),
            ],
        );
        assert_eq!(counted, of_partitions, "{name}");
    }
    for (name, expected) in [
        ("share_coordinator_shard_4.2.json", [20, 90, 1]),
        ("share_coordinator_shard_trunk.json", [30, 141, 0]),
        ("share_session_trunk.json", [20, 91, 0]),
        ("simple_assignor_trunk.json", [11, 13, 0]),
        ("offsets_manager_trunk.json", [12, 122, 0]),
        ("record_serde_trunk.json", [13, 17, 0]),
        ("record_serde_4.2.json", [13, 17, 0]),
    ] {
        agrees(&directory.join(format!("{name}{ending}")), expected);
    }
}

#[test]
fn our_copies_agree() {
    let fuzz = ([54, 4485, 0], ([4064, 6], [276, 876, 216, 628]));
    all_agree(&copies(), ".gz", fuzz);
}

#[test]
fn all_recordings_agree() {
    let Some(directory) = all() else {
        // The copies are what there is.
        return;
    };
    let fuzz = ([386, 30808, 0], ([29292, 16], [2040, 6620, 1544, 5134]));
    all_agree(&directory, "", fuzz);
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
