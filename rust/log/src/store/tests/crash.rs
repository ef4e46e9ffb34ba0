//! The log is cut at every byte, as a crash may leave it.

use super::*;
use crate::corrupt::CorruptKind;

#[test]
fn a_log_cut_at_any_byte_keeps_every_whole_batch() {
    let config = config();
    let (disk, history) = history(&config, &unpruned());
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

/// A segment that had not got its name.
#[test]
fn what_a_crash_left_of_a_roll_is_removed() {
    let (disk, history) = history(&config(), &script()[..6]);
    let before = disk.files();
    let mut draft = segment(0, 6).into_os_string();
    draft.push(crate::disk::DRAFT_SUFFIX);
    disk.put(Path::new(&draft), b"half a batch");
    let store = open(&disk, &config()).unwrap();
    assert_eq!(store.states().unwrap(), history[6]);
    drop(store);
    assert!(disk.files().keys().eq(before.keys()));
}
