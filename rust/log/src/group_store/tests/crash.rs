//! Power is lost at every operation of the disk, also during recovery and while the log is rewritten.

use super::*;
use crate::disk::sim::Fault;
use crate::store::SyncPolicy;

/// Small segments, and a log that is rewritten every few verbs.
fn small() -> GroupStoreConfig {
    GroupStoreConfig {
        segment_bytes: 1024,
        rewrite_bytes: 1500,
        ..GroupStoreConfig::default()
    }
}

/// Runs the script until something fails; how many commands were acknowledged, `None` if the store was not opened.
fn run_until_failure(
    disk: &SimDisk,
    config: &GroupStoreConfig,
    script: &[Command],
) -> Option<usize> {
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

/// The states after the acknowledged commands, or with the one in flight as well: never half of one.
fn allowed(history: &[State], acknowledged: Option<usize>) -> &[State] {
    let first = acknowledged.unwrap_or(0);
    &history[first..(first + 2).min(history.len())]
}

#[test]
fn what_was_acknowledged_survives_power_cuts_at_every_operation() {
    let (config, script) = (small(), script());
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
            let found = state(&store);
            assert!(
                allowed(&history, acknowledged).contains(&found),
                "cut at {at}, {loss:?}"
            );
            // It continues from there.
            Command::Beat("z", 0).run(&store, 1_000_000).unwrap();
            let more = state(&store);
            drop(store);
            assert_eq!(state(&open(&image, &config).unwrap()), more);
        }
        cuts += 1;
    }
    assert!(cuts > 70, "{cuts} cuts");
    assert!(torn > 20, "{torn} torn tails");
}

#[test]
fn recovery_survives_power_cuts_of_its_own() {
    let (config, script) = (small(), script());
    let (_, history) = history(&config, &script);
    let mut cuts = 0;
    for at in (0..).step_by(5) {
        let disk = SimDisk::default();
        disk.set_fault(Some(Fault::PowerAt(at)));
        let acknowledged = run_until_failure(&disk, &config, &script);
        if disk.operations() <= at {
            break;
        }
        for first in [Loss::Nothing, Loss::HalfOfBytes, Loss::ZeroFilled] {
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
                    assert!(
                        allowed(&history, acknowledged).contains(&state(&store)),
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
        let config = GroupStoreConfig { sync, ..small() };
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
                let found = state(&store);
                let upto = acknowledged.unwrap_or(0) + 1;
                let at_most = history.iter().take(upto + 1);
                let found_at = at_most.clone().rposition(|known| *known == found);
                assert!(found_at.is_some(), "cut at {at}, {loss:?}");
                if loss == Loss::Nothing {
                    // Only the process was killed.
                    assert!(
                        allowed(&history, acknowledged).contains(&found),
                        "kill at {at}"
                    );
                }
                lost += usize::from(found_at < acknowledged);
            }
            cuts += 1;
        }
        assert!(cuts > 20, "{cuts} cuts under {sync:?}");
        assert!(lost > 0, "{sync:?} is weaker and the test shows it");
    }
}

#[test]
fn a_log_cut_at_any_byte_keeps_every_whole_verb() {
    let config = GroupStoreConfig::default();
    let (disk, history) = history(&config, &script());
    let bytes = disk.bytes(&segment(0));
    let mut reached = 0;
    // The first batch was durable before the segment had its name.
    let first = share_state_wire::record_batch::peek_size(&bytes).unwrap();
    for cut in first.unwrap()..bytes.len() {
        let image = disk.copy();
        image.put(&segment(0), &bytes[..cut]);
        let store = open(&image, &config).unwrap_or_else(|e| panic!("cut at {cut}: {e}"));
        let found = state(&store);
        let later = history[reached..].iter().position(|known| *known == found);
        reached += later.unwrap_or_else(|| panic!("cut at {cut}: half a verb"));
    }
    assert_eq!(
        reached,
        history.len() - 2,
        "all but the last verb, cut by a byte"
    );
}
