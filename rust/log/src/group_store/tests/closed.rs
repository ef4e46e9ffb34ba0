//! After a clean close nothing of the groups' log is torn, and a repair says what it costs.

use super::*;
use crate::config::SyncPolicy;
use crate::corrupt::CorruptKind;
use crate::damage::Damage;
use crate::disk::sim::Fault;

/// Opens a changed copy of the log and expects refusal without any change.
fn damage(image: &SimDisk, config: &GroupStoreConfig) -> Damage {
    let before = image.files();
    let error = open(image, config).expect_err("damage");
    assert_eq!(image.files(), before, "{error}");
    match error {
        OpenError::Damaged(damages) => match <[_; 1]>::try_from(damages) {
            Ok([damage]) => damage,
            Err(damages) => panic!("{damages:?}"),
        },
        other => panic!("{other}"),
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_refused() {
    for sync in [SyncPolicy::Always, SyncPolicy::Never] {
        let config = GroupStoreConfig {
            sync,
            ..GroupStoreConfig::default()
        };
        let (disk, _) = closed_history(&config, &script()[..4]);
        let bytes = disk.bytes(&segment(0));
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                let image = disk.copy();
                image.put(&segment(0), &flipped);
                let corrupt = damage(&image, &config).corrupt;
                assert!(corrupt.position <= at as u64, "{corrupt}");
            }
            let image = disk.copy();
            image.put(&segment(0), &bytes[..at]);
            let corrupt = damage(&image, &config).corrupt;
            assert!(corrupt.position <= at as u64, "{corrupt}");
        }
        let image = disk.copy();
        image.take(&segment(0));
        let gone = damage(&image, &config);
        assert!(
            matches!(
                gone.corrupt.kind,
                CorruptKind::EndsElsewhere { found: 0, .. }
            ),
            "{gone}"
        );
    }
}

#[test]
fn a_repair_keeps_what_stands_before_the_damage_and_names_the_groups() {
    let config = GroupStoreConfig::default();
    let (disk, history) = closed_history(&config, &script()[..4]);
    let mut bytes = disk.bytes(&segment(0));
    let begins = {
        let (mut at, mut begins) = (0, vec![]);
        while let Some(size) = share_state_wire::record_batch::peek_size(&bytes[at..]).unwrap() {
            begins.push(at);
            at += size;
        }
        begins
    };
    // The checksum of the last batch, in which an offset of the group h was altered.
    let begin = begins[begins.len() - 1];
    bytes[begin + 17] ^= 1;
    disk.put(&segment(0), &bytes);
    let told = damage(&disk, &config);
    assert_eq!(told.loss.bytes, (bytes.len() - begin) as u64);
    assert_eq!(
        (&told.loss.keys[..], told.loss.is_exact),
        (&["h".to_owned()][..], true)
    );
    let repair = GroupStoreConfig {
        repair: true,
        ..config.clone()
    };
    let store = open(&disk, &repair).unwrap();
    assert_eq!(state(&store), history[3]);
    assert_eq!(store.recovery().repaired, [told]);
    store.close().unwrap();
    assert_eq!(state(&open(&disk, &config).unwrap()), history[3]);
}

/// Two sessions with a close between them, while the log is rewritten every few verbs. Power is lost at every operation.
#[test]
fn power_cuts_around_a_close_leave_a_log_that_opens() {
    let commands = script();
    let (first, second) = commands.split_at(7);
    let config = GroupStoreConfig {
        segment_bytes: 1024,
        rewrite_bytes: 1500,
        ..GroupStoreConfig::default()
    };
    let (_, history) = history(&config, &commands);
    let mut cuts = 0;
    for at in 0.. {
        let disk = SimDisk::default();
        disk.set_fault(Some(Fault::PowerAt(at)));
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
        }
        if disk.operations() <= at {
            break;
        }
        for loss in Loss::ALL {
            let image = disk.after_crash(loss);
            let store =
                open(&image, &config).unwrap_or_else(|e| panic!("cut at {at}, {loss:?}: {e}"));
            let upto = (acknowledged + 2).min(history.len());
            assert!(
                history[acknowledged..upto].contains(&state(&store)),
                "cut at {at}, {loss:?}"
            );
            assert!(!store.recovery().note_damaged);
        }
        cuts += 1;
    }
    assert!(cuts > 70, "{cuts} cuts");
}
