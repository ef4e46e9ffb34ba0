//! Power is lost at every operation of the disk, also during recovery, and the log is cut at every byte.

use super::*;
use crate::corrupt::CorruptKind;
use crate::disk::sim::Fault;

fn small_segments() -> StoreConfig {
    StoreConfig {
        segment_bytes: 1024,
        ..config()
    }
}

/// Runs the script until something fails; how many commands were acknowledged, `None` if the store was not opened.
fn run_until_failure(disk: &SimDisk, config: &StoreConfig, script: &[Command]) -> Option<usize> {
    let store = open(disk, config).ok()?;
    let mut acknowledged = 0;
    for (now, command) in (0..).zip(script) {
        if command.run(&store, now * TICK).is_err() {
            break;
        }
        acknowledged += 1;
    }
    Some(acknowledged)
}

/// The states after the acknowledged commands, or with the one in flight as well.
fn allowed(history: &[States], acknowledged: Option<usize>) -> &[States] {
    let first = acknowledged.unwrap_or(0);
    &history[first..(first + 2).min(history.len())]
}

#[test]
fn what_was_acknowledged_survives_power_cuts_at_every_operation() {
    let (config, script) = (small_segments(), script());
    let (_, history) = history(&config, &script);
    let (mut cuts, mut torn) = (0, 0);
    for at in 0.. {
        let disk = SimDisk::default();
        disk.set_fault(Some(Fault::PowerAt(at)));
        let acknowledged = run_until_failure(&disk, &config, &script);
        if disk.operations() <= at {
            break;
        }
        for loss in Loss::ALL {
            let image = disk.after_crash(loss);
            let store =
                open(&image, &config).unwrap_or_else(|e| panic!("cut at {at}, {loss:?}: {e}"));
            torn += store.recovery().torn.len();
            let states = store.states().unwrap();
            assert!(
                allowed(&history, acknowledged).contains(&states),
                "cut at {at}, {loss:?}"
            );
            // It continues from there.
            Command::Initialize(7).run(&store, 10_000).unwrap();
            drop(store);
            let again = open(&image, &config).unwrap().states().unwrap();
            assert_eq!(again.len(), states.len() + 1, "cut at {at}, {loss:?}");
        }
        cuts += 1;
    }
    assert!(cuts > 70, "{cuts} cuts");
    assert!(torn > 20, "{torn} torn tails");
}

#[test]
fn recovery_survives_power_cuts_of_its_own() {
    let (config, script) = (small_segments(), script());
    let (_, history) = history(&config, &script);
    let mut cuts = 0;
    for at in (0..).step_by(5) {
        let disk = SimDisk::default();
        disk.set_fault(Some(Fault::PowerAt(at)));
        let acknowledged = run_until_failure(&disk, &config, &script);
        if disk.operations() <= at {
            break;
        }
        for first in [
            Loss::Nothing,
            Loss::HalfOfBytes,
            Loss::ZeroFilled,
            Loss::FirstPageZero,
        ] {
            for within in 0.. {
                let image = disk.after_crash(first);
                image.set_fault(Some(Fault::PowerAt(within)));
                let opened = open(&image, &config).is_ok();
                if image.operations() <= within {
                    assert!(opened);
                    break;
                }
                for second in Loss::ALL {
                    let store = open(&image.after_crash(second), &config).unwrap_or_else(|e| {
                        panic!("cuts at {at} and {within}, {first:?}, {second:?}: {e}")
                    });
                    let states = store.states().unwrap();
                    assert!(
                        allowed(&history, acknowledged).contains(&states),
                        "cuts at {at} and {within}, {first:?}, {second:?}"
                    );
                    cuts += 1;
                }
            }
        }
    }
    assert!(cuts > 1000, "{cuts} double cuts");
}

#[test]
fn weaker_policies_lose_a_suffix_and_nothing_else() {
    let script = script();
    for sync in [
        SyncPolicy::Never,
        SyncPolicy::Interval {
            ms: u64::from(u32::MAX),
        },
    ] {
        let config = StoreConfig {
            sync,
            ..small_segments()
        };
        let (_, history) = history(&config, &script);
        let (mut cuts, mut lost) = (0, 0);
        for at in 0.. {
            let disk = SimDisk::default();
            disk.set_fault(Some(Fault::PowerAt(at)));
            let acknowledged = run_until_failure(&disk, &config, &script);
            if disk.operations() <= at {
                break;
            }
            for loss in Loss::ALL {
                let image = disk.after_crash(loss);
                let store =
                    open(&image, &config).unwrap_or_else(|e| panic!("cut at {at}, {loss:?}: {e}"));
                let states = store.states().unwrap();
                let upto = acknowledged.unwrap_or(0) + 1;
                let found = history
                    .iter()
                    .take(upto + 1)
                    .rposition(|known| *known == states);
                assert!(found.is_some(), "cut at {at}, {loss:?}");
                if loss == Loss::Nothing {
                    // Only the process was killed.
                    assert!(
                        allowed(&history, acknowledged).contains(&states),
                        "kill at {at}"
                    );
                }
                lost += usize::from(found < acknowledged);
            }
            cuts += 1;
        }
        assert!(cuts > 20, "{cuts} cuts under {sync:?}");
        assert!(lost > 0, "{sync:?} is weaker and the test shows it");
    }
}

#[test]
fn a_log_cut_at_any_byte_keeps_every_whole_batch() {
    let config = config();
    let script: Vec<_> = script()
        .into_iter()
        .filter(|c| !matches!(c, Command::Prune))
        .collect();
    let (disk, history) = history(&config, &script);
    let path = segment(0, 0);
    let bytes = disk.bytes(&path);
    let boundaries = boundaries(&bytes);
    // Cold snapshots may be several records, but they are one batch.
    let states_at: Vec<_> = {
        let mut distinct = history;
        distinct.dedup();
        distinct
    };
    assert_eq!(boundaries.len(), states_at.len());
    for cut in 0..bytes.len() {
        let image = disk.copy();
        image.put(&path, &bytes[..cut]);
        // The first batch was durable before the segment had its name.
        if cut < boundaries[1] {
            let [damage] = &damages(&image, &config)[..] else {
                panic!("cut at {cut}")
            };
            assert_eq!(damage.corrupt.position, 0, "cut at {cut}");
            let is_empty = damage.corrupt.kind == CorruptKind::EmptySegment;
            assert_eq!(is_empty, cut == 0, "cut at {cut}: {damage}");
            continue;
        }
        let store = open(&image, &config).unwrap_or_else(|e| panic!("cut at {cut}: {e}"));
        let whole = boundaries
            .iter()
            .rposition(|boundary| *boundary <= cut)
            .unwrap();
        assert_eq!(store.states().unwrap(), states_at[whole], "cut at {cut}");
        let torn = &store.recovery().torn;
        if boundaries[whole] == cut {
            assert_eq!(torn, &[]);
        } else {
            assert_eq!(torn.len(), 1, "cut at {cut}");
            assert_eq!(torn[0].position, boundaries[whole] as u64);
            assert_eq!(torn[0].bytes, (cut - boundaries[whole]) as u64);
            assert_eq!(torn[0].segment, path);
        }
    }
}

#[test]
fn a_zero_filled_tail_is_cut_if_everything_after_is_zero() {
    let config = config();
    let (disk, history) = history(&config, &script()[..6]);
    let path = segment(0, 0);
    let bytes = disk.bytes(&path);
    for zeros in [1, 11, 12, 60, 61, 5000, 200_000] {
        let image = disk.copy();
        image.put(&path, &[bytes.clone(), vec![0; zeros]].concat());
        let store = open(&image, &config).unwrap();
        assert_eq!(store.states().unwrap(), history[6]);
        assert_eq!(store.recovery().torn[0].bytes, zeros as u64);
        drop(store);
        assert_eq!(image.bytes(&path), bytes);
    }
}
