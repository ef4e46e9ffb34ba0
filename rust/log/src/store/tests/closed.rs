//! After a clean close nothing is torn: whatever is bad, missing or too much is refused, and nothing is changed. A crash across a
//! close or an opening never makes a sound log look damaged.

use super::*;
use crate::corrupt::CorruptKind;
use crate::disk::sim::Fault;

fn small_segments(sync: SyncPolicy) -> StoreConfig {
    StoreConfig {
        segment_bytes: 1024,
        sync,
        ..config()
    }
}

/// The last segment of the first state partition.
fn last_segment(disk: &SimDisk) -> PathBuf {
    let dir = Path::new(ROOT).join(partition_dir(0));
    let mut in_it = disk.files().into_keys().filter(|p| p.starts_with(&dir));
    in_it.next_back().expect("a segment")
}

#[test]
fn a_clean_close_survives_every_loss_under_every_policy() {
    for sync in POLICIES {
        for partitions in [1, 3] {
            let config = StoreConfig {
                partitions: Some(partitions),
                ..small_segments(sync)
            };
            let (disk, store, history) = played(&config, &script());
            store.close().unwrap();
            for loss in Loss::ALL {
                let store = open(&disk.after_crash(loss), &config).unwrap();
                assert_eq!(Some(&store.states().unwrap()), history.last(), "{loss:?}");
                assert_eq!(store.recovery().torn, []);
            }
        }
    }
}

/// Two sessions with a close between them. Power is lost at every operation of both, so also while the close is noted and while
/// that is taken back.
#[test]
fn power_cuts_around_a_close_leave_a_log_that_opens() {
    let commands = script();
    let (first, second) = commands.split_at(9);
    for sync in POLICIES {
        let config = small_segments(sync);
        let (_, history) = history(&config, &commands);
        let (mut cuts, mut noted) = (0, 0);
        for at in 0.. {
            let disk = SimDisk::default();
            disk.set_fault(Some(Fault::PowerAt(at)));
            let mut closed = 0;
            let mut acknowledged = 0;
            for session in [first, second] {
                let Ok(store) = open(&disk, &config) else {
                    break;
                };
                let done = session
                    .iter()
                    .zip(acknowledged..)
                    .take_while(|(command, now)| {
                        let now = i64::try_from(*now).unwrap() * TICK;
                        command.run(&store, now).is_ok()
                    });
                acknowledged += done.count();
                if store.close().is_err() {
                    break;
                }
                closed = acknowledged;
            }
            if disk.operations() <= at {
                break;
            }
            for loss in Loss::ALL {
                let image = disk.after_crash(loss);
                noted +=
                    usize::from(image.files().get(&meta()).is_some_and(|bytes| {
                        String::from_utf8_lossy(bytes).contains("torn=nothing")
                    }));
                let store =
                    open(&image, &config).unwrap_or_else(|e| panic!("cut at {at}, {loss:?}: {e}"));
                let survives = match sync {
                    SyncPolicy::Always => acknowledged,
                    // What was closed is on the disk; a kill loses nothing either.
                    _ if loss == Loss::Nothing => acknowledged,
                    _ => closed,
                };
                let upto = (acknowledged + 2).min(history.len());
                assert!(
                    history[survives..upto].contains(&store.states().unwrap()),
                    "cut at {at}, {loss:?}, {sync:?}"
                );
                assert!(!store.recovery().note_damaged);
                assert_eq!(store.recovery().repaired, []);
            }
            cuts += 1;
        }
        assert!(cuts > 50, "{cuts} cuts under {sync:?}");
        assert!(noted > 20, "{noted} images that were closed");
    }
}

#[test]
fn every_flipped_bit_of_the_last_segment_is_refused() {
    for sync in POLICIES {
        let config = small_segments(sync);
        let (disk, _) = closed_history(&config, &script());
        let path = last_segment(&disk);
        let bytes = disk.bytes(&path);
        let boundaries = boundaries(&bytes);
        assert!(boundaries.len() > 2, "{boundaries:?}");
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                let image = disk.copy();
                image.put(&path, &flipped);
                let refused = damages(&image, &config);
                let batch = boundaries.iter().rfind(|begin| **begin <= at).unwrap();
                let corrupt = &refused[0].corrupt;
                assert_eq!(
                    (refused.len(), &corrupt.segment, corrupt.position),
                    (1, &path, *batch as u64),
                    "bit {bit} of byte {at}: {corrupt}"
                );
            }
        }
    }
}

#[test]
fn every_shorter_last_segment_is_refused() {
    for sync in POLICIES {
        let config = small_segments(sync);
        let (disk, _) = closed_history(&config, &script());
        let path = last_segment(&disk);
        let bytes = disk.bytes(&path);
        let boundaries = boundaries(&bytes);
        for cut in 0..bytes.len() {
            let image = disk.copy();
            image.put(&path, &bytes[..cut]);
            let refused = damages(&image, &config);
            let corrupt = &refused[0].corrupt;
            let batch = boundaries.iter().rfind(|begin| **begin <= cut).unwrap();
            assert_eq!(
                (refused.len(), &corrupt.segment, corrupt.position),
                (1, &path, *batch as u64),
                "cut at {cut}: {corrupt}"
            );
            let as_expected = match &corrupt.kind {
                CorruptKind::EmptySegment => cut == 0,
                CorruptKind::EndsElsewhere { .. } => cut == *batch,
                kind => cut > *batch && matches!(kind, CorruptKind::CutOff { .. }),
            };
            // Fewer bytes than the offset and the length, of which those of the offset are zeros.
            let zeros = bytes[*batch..cut].iter().all(|byte| *byte == 0);
            assert!(
                as_expected || (zeros && corrupt.kind == CorruptKind::ZeroFilled),
                "cut at {cut}: {corrupt}"
            );
        }
    }
}

#[test]
fn missing_segments_are_refused() {
    let config = small_segments(SyncPolicy::Always);
    let (disk, _) = closed_history(&config, &script()[..12]);
    let path = last_segment(&disk);
    let image = disk.copy();
    image.take(&path);
    let [damage] = &damages(&image, &config)[..] else {
        panic!()
    };
    assert_eq!(
        (&damage.corrupt.segment, damage.corrupt.position),
        (&path, 0)
    );
    assert!(
        matches!(damage.corrupt.kind, CorruptKind::EndsElsewhere { .. }),
        "{damage}"
    );
    assert_eq!(damage.loss.bytes, 0, "there is nothing to cut off");
    // All of them, which looks like a store that never held anything.
    for segment in disk.files().into_keys().filter(|p| p != &meta()) {
        image.take(&segment);
    }
    let [damage] = &damages(&image, &config)[..] else {
        panic!()
    };
    assert_eq!(
        damage.corrupt.kind,
        CorruptKind::EndsElsewhere {
            noted: 12,
            found: 0
        }
    );
    assert_eq!((damage.loss.records, damage.loss.is_exact), (12, true));
}

#[test]
fn bytes_after_the_end_are_refused() {
    let config = config();
    let (disk, history) = closed_history(&config, &script()[..8]);
    let path = segment(0, 0);
    let bytes = disk.bytes(&path);
    let (longer, _) = closed_history(&config, &script()[..9]);
    let next_batch = longer.bytes(&path)[bytes.len()..].to_vec();
    for (more, records) in [
        (vec![0], 8),
        (vec![0; 5000], 8),
        (vec![7; 20], 8),
        (bytes.clone(), 8),
        // A whole batch with the right offset, written by nobody who opened the store.
        (next_batch, 9),
    ] {
        let image = disk.copy();
        image.put(&path, &[bytes.clone(), more.clone()].concat());
        let [damage] = &damages(&image, &config)[..] else {
            panic!()
        };
        assert_eq!(
            (&damage.corrupt.segment, damage.corrupt.position),
            (&path, bytes.len() as u64)
        );
        assert_eq!(
            (damage.loss.records, damage.loss.is_exact),
            (0, true),
            "{damage}"
        );
        let repair = StoreConfig {
            repair: true,
            ..config
        };
        let store = open(&image, &repair).unwrap();
        assert_eq!(store.recovery().records, records);
        if records == 8 {
            assert_eq!(Some(&store.states().unwrap()), history.last());
        }
    }
    // In its own segment.
    let image = disk.copy();
    let extra = segment(0, 8);
    image.put(&extra, &longer.bytes(&path)[bytes.len()..]);
    let [damage] = &damages(&image, &config)[..] else {
        panic!()
    };
    assert_eq!(
        (&damage.corrupt.segment, damage.corrupt.position),
        (&extra, 0)
    );
}
