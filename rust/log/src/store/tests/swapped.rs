//! Files in the place of others: segments of another state partition or of another store, what another store says of itself.

use super::*;
use crate::corrupt::CorruptKind;
use crate::trials::changes::names;

fn two_partitions() -> StoreConfig {
    StoreConfig {
        partitions: Some(2),
        ..config()
    }
}

/// A store with this many states in two state partitions.
fn with_states(number: i32, is_closed: bool) -> (SimDisk, States) {
    let script: Vec<_> = (0..number).map(Command::Initialize).collect();
    let (disk, history) = if is_closed {
        closed_history(&two_partitions(), &script)
    } else {
        history(&two_partitions(), &script)
    };
    (disk, history.last().unwrap().clone())
}

#[test]
fn a_file_in_the_place_of_another_is_refused_or_changes_no_answer() {
    let (mut refused, mut same) = (0, 0);
    for is_closed in [true, false] {
        let (disk, states) = with_states(9, is_closed);
        let mut others: Vec<_> = disk.files().into_values().collect();
        // Nothing tells the log of one store from that of another before an end is noted.
        for number in if is_closed { vec![5, 12] } else { vec![] } {
            others.extend(with_states(number, true).0.files().into_values());
        }
        for (path, whole) in disk.files() {
            for bytes in others.iter().filter(|bytes| **bytes != whole) {
                let image = disk.copy();
                image.put(&path, bytes);
                let before = image.files();
                match open(&image, &two_partitions()) {
                    Ok(store) => {
                        assert_eq!(store.states().unwrap(), states, "{}", path.display());
                        assert_eq!(store.recovery().torn, []);
                        same += 1;
                    }
                    Err(error) => {
                        assert!(
                            names(&error.to_string(), &path),
                            "{}: {error}",
                            path.display()
                        );
                        assert_eq!(image.files(), before);
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused >= 28, "{refused} refused, {same} the same");
    assert_eq!(same, 0);
}

/// Each state partition is a log of its own from offset 0, so another one's can be read. It was taken for this one's, and every
/// share partition of both had no state.
#[test]
fn the_log_of_another_state_partition_is_refused() {
    let (disk, states) = with_states(9, false);
    assert_eq!(states.len(), 9);
    let [one, other] = [0, 1].map(|partition| disk.bytes(&segment(partition, 0)));
    disk.put(&segment(0, 0), &other);
    disk.put(&segment(1, 0), &one);
    let told = damages(&disk, &two_partitions());
    let kinds: Vec<_> = told.iter().map(|damage| &damage.corrupt.kind).collect();
    let belongs = |partition| CorruptKind::StatePartition {
        offset: 0,
        partition,
    };
    assert_eq!(kinds, [&belongs(1), &belongs(0)]);
}
