//! Damage is cut off when the settings ask for it, and what that costs is said before and after.

use super::*;
use crate::disk::sim::Fault;

fn repairing(config: &StoreConfig) -> StoreConfig {
    StoreConfig {
        repair: true,
        ..*config
    }
}

/// The states at the end of each batch: every command but those that write nothing makes one.
fn states_at(history: &[States]) -> Vec<States> {
    let mut distinct = history.to_vec();
    distinct.dedup();
    distinct
}

#[test]
fn a_repair_keeps_what_stands_before_the_damage() {
    let config = config();
    let (disk, history) = closed_history(&config, &script()[..12]);
    let path = segment(0, 0);
    let bytes = disk.bytes(&path);
    let (boundaries, states) = (boundaries(&bytes), states_at(&history));
    assert_eq!(boundaries.len(), states.len());
    for at in 0..bytes.len() {
        let batch = boundaries.iter().rposition(|begin| *begin <= at).unwrap();
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        for changed in [&flipped[..], &bytes[..at]] {
            if changed.is_empty() {
                continue;
            }
            let image = disk.copy();
            image.put(&path, changed);
            let told = damages(&image, &config);
            let store = open(&image, &repairing(&config)).unwrap();
            assert_eq!(store.states().unwrap(), states[batch], "byte {at}");
            assert_eq!(store.recovery().repaired, told);
            assert_eq!(store.recovery().torn, []);
            let loss = &told[0].loss;
            assert_eq!(
                (loss.bytes, loss.records, loss.is_exact),
                (
                    (changed.len() - boundaries[batch]) as u64,
                    (states.len() - 1 - batch) as u64,
                    true
                ),
                "byte {at}"
            );
            // It continues from there, and is whole again.
            Command::Initialize(7).run(&store, 10_000).unwrap();
            let after = store.states().unwrap();
            store.close().unwrap();
            let again = open(&image, &repairing(&config)).unwrap();
            assert_eq!(again.states().unwrap(), after);
            assert_eq!(again.recovery().repaired, []);
        }
    }
}

#[test]
fn a_refusal_says_what_a_repair_costs() {
    let config = config();
    // Two keys, then a batch of the first that is damaged.
    let (disk, _) = closed_history(&config, &script()[..4]);
    let path = segment(0, 0);
    let mut bytes = disk.bytes(&path);
    let boundaries = boundaries(&bytes);
    let begin = boundaries[boundaries.len() - 2];
    bytes[begin + 17] ^= 1;
    disk.put(&path, &bytes);
    let error = open(&disk, &config).unwrap_err();
    let told = error.to_string();
    let size = bytes.len() - begin;
    assert!(
        told.starts_with(&format!(
            "{} at byte {begin}: unreadable batch",
            path.display()
        )),
        "{told}"
    );
    let costs = format!(
        "(repair cuts off {size} bytes; 1 record is lost, of \"g:{}:0\")",
        TopicId([1; 16]).to_base64()
    );
    assert!(told.ends_with(&costs), "{told}");
    assert_eq!(
        error.kafka_code(),
        share_state_core::kafka_code::KafkaCode::CorruptMessage
    );
}

#[test]
fn damage_in_the_middle_costs_all_that_follows() {
    let (config, script) = in_many_segments();
    for is_closed in [true, false] {
        let (disk, history) = if is_closed {
            closed_history(&config, &script)
        } else {
            history(&config, &script)
        };
        let segments: Vec<_> = disk
            .files()
            .into_keys()
            .filter(|path| path.extension().is_some_and(|e| e == "log"))
            .collect();
        assert!(segments.len() >= 3, "{segments:?}");
        let whole = open(&disk.copy(), &config).unwrap().recovery().records;
        let mut bytes = disk.bytes(&segments[1]);
        bytes[70] ^= 1;
        disk.put(&segments[1], &bytes);
        let [damage] = &damages(&disk, &config)[..] else {
            panic!()
        };
        assert_eq!(
            (&damage.corrupt.segment, damage.corrupt.position),
            (&segments[1], 0)
        );
        let after: usize = segments[1..].iter().map(|p| disk.bytes(p).len()).sum();
        assert_eq!(damage.loss.bytes, after as u64);
        assert_eq!(damage.loss.is_exact, is_closed);
        assert_eq!(damage.loss.keys.len(), 3, "{damage}");
        let store = open(&disk, &repairing(&config)).unwrap();
        let kept = store.recovery().records;
        // Of a log that was not closed the batch whose bytes are bad still tells how many records it had.
        assert_eq!(kept + damage.loss.records, whole, "{damage}");
        assert!(history.contains(&store.states().unwrap()));
        assert!(!disk.files().contains_key(&segments[1]));
        assert!(!disk.files().contains_key(&segments[2]));
    }
}

#[test]
fn every_state_partition_that_is_damaged_is_named_and_repaired() {
    let config = StoreConfig {
        partitions: Some(3),
        ..config()
    };
    let commands: Vec<_> = (0..30).map(Command::Initialize).collect();
    let (disk, history) = closed_history(&config, &commands);
    for partition in [0, 2] {
        let path = segment(partition, 0);
        let bytes = disk.bytes(&path);
        disk.put(&path, &bytes[..bytes.len() - 1]);
    }
    let told = damages(&disk, &config);
    let partitions: Vec<_> = told.iter().map(|damage| damage.partition).collect();
    assert_eq!(partitions, [0, 2]);
    let store = open(&disk, &repairing(&config)).unwrap();
    assert_eq!(store.recovery().repaired, told);
    assert_eq!(store.recovery().records, 28);
    assert_eq!(
        store.states().unwrap().len(),
        history.last().unwrap().len() - 2
    );
}

#[test]
fn what_no_cut_mends_is_refused_whatever_the_settings() {
    let config = StoreConfig {
        segment_bytes: 1024,
        ..config()
    };
    // Pruned, so the log does not begin at 0.
    let (disk, _) = closed_history(&config, &script());
    let dir = Path::new(ROOT).join(partition_dir(0));
    let first = disk
        .files()
        .into_keys()
        .find(|path| path.starts_with(&dir))
        .expect("a segment");
    assert_ne!(first, segment(0, 0));
    let mut bytes = disk.bytes(&first);
    bytes[70] ^= 1;
    for change in [
        &(|d: &SimDisk| d.put(&first, &bytes)) as &dyn Fn(&SimDisk),
        &|d| d.take(&first),
        &|d| d.put(&dir.join("x.log"), b"x"),
    ] {
        let image = disk.copy();
        change(&image);
        let before = image.files();
        for config in [config, repairing(&config)] {
            let error = open(&image, &config).unwrap_err();
            assert!(matches!(error, OpenError::Corrupt(_)), "{error}");
            assert_eq!(image.files(), before);
        }
    }
}

#[test]
fn a_repair_survives_power_cuts_of_its_own() {
    let (config, script) = in_many_segments();
    let (disk, _) = closed_history(&config, &script);
    let segments: Vec<_> = disk
        .files()
        .into_keys()
        .filter(|path| path.extension().is_some_and(|e| e == "log"))
        .collect();
    let mut bytes = disk.bytes(&segments[0]);
    *bytes.last_mut().unwrap() ^= 1;
    disk.put(&segments[0], &bytes);
    let repaired = open(&disk.copy(), &repairing(&config))
        .unwrap()
        .states()
        .unwrap();
    let (mut refused, mut done) = (0, 0);
    for at in 0.. {
        let broken = disk.copy();
        broken.set_fault(Some(Fault::PowerAt(at)));
        let opened = open(&broken, &repairing(&config)).is_ok();
        if broken.operations() <= at {
            assert!(opened);
            break;
        }
        for loss in Loss::ALL {
            let image = broken.after_crash(loss);
            match open(&image.copy(), &config) {
                // Half a repair is no consent to the rest.
                Err(error) => {
                    assert!(matches!(error, OpenError::Damaged(_)), "{error}");
                    refused += 1;
                }
                Ok(store) => {
                    assert_eq!(store.states().unwrap(), repaired, "cut at {at}, {loss:?}");
                    done += 1;
                }
            }
            let store = open(&image, &repairing(&config)).unwrap();
            assert_eq!(store.states().unwrap(), repaired, "cut at {at}, {loss:?}");
        }
    }
    assert!(refused > 20 && done > 5, "{refused} refused, {done} done");
}

#[test]
fn a_torn_tail_is_no_repair() {
    let config = config();
    let (disk, history) = history(&config, &script()[..8]);
    let path = segment(0, 0);
    let bytes = disk.bytes(&path);
    disk.put(&path, &bytes[..bytes.len() - 1]);
    let store = open(&disk, &repairing(&config)).unwrap();
    assert_eq!(store.recovery().torn.len(), 1);
    assert_eq!(store.recovery().repaired, []);
    assert_eq!(store.states().unwrap(), history[7]);
}
