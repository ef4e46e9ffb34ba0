//! Damage that no crash explains is found and refused, and nothing is changed.

use super::*;
use crate::corrupt::{CorruptKind, CorruptLog};

/// Opens a changed copy of the store and expects refusal without any change.
pub(super) fn refused(image: &SimDisk, config: &StoreConfig) -> CorruptLog {
    let before = image.files();
    let error = open(image, config).expect_err("damage");
    assert_eq!(
        image.files(),
        before,
        "a refused open changed something: {error}"
    );
    match error {
        OpenError::Corrupt(corrupt) => corrupt,
        OpenError::Damaged(damages) => match <[_; 1]>::try_from(damages) {
            Ok([damage]) => damage.corrupt,
            Err(damages) => panic!("{damages:?}"),
        },
        other => panic!("{other}"),
    }
}

#[test]
fn a_flipped_bit_at_any_byte_is_found() {
    let config = config();
    let (disk, history) = history(&config, &script()[..8]);
    let path = segment(0, 0);
    let bytes = disk.bytes(&path);
    let mut last = 0;
    while let Some(size) = peek_size(&bytes[last..]).unwrap() {
        if last + size == bytes.len() {
            break;
        }
        last += size;
    }
    let (mut refusals, mut cuts) = (0, 0);
    for at in 0..bytes.len() {
        for bit in [0, 3, 7] {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            let image = disk.copy();
            image.put(&path, &flipped);
            if at < last {
                let corrupt = refused(&image, &config);
                assert!(
                    corrupt.position <= at as u64,
                    "bit {bit} of byte {at}: {corrupt}"
                );
                refusals += 1;
                continue;
            }
            // In the last batch a flipped bit can look like a batch that was not written to its end.
            match open(&image, &config) {
                Ok(store) => {
                    assert_eq!(
                        store.recovery().torn[0].position,
                        last as u64,
                        "bit {bit} of byte {at}"
                    );
                    assert_eq!(store.states().unwrap(), history[7]);
                    cuts += 1;
                }
                Err(error) => {
                    assert!(
                        matches!(error, OpenError::Damaged(_)),
                        "bit {bit} of byte {at}: {error}"
                    );
                    refusals += 1;
                }
            }
        }
    }
    assert_eq!(refusals + cuts, 3 * bytes.len());
    assert!(
        refusals > 2 * bytes.len(),
        "{refusals} refusals, {cuts} cuts"
    );
}

#[test]
fn impossible_lengths_in_the_middle_are_refused() {
    let config = config();
    let (disk, _) = history(&config, &script()[..8]);
    let path = segment(0, 0);
    let bytes = disk.bytes(&path);
    let second = peek_size(&bytes).unwrap().unwrap();
    for length in [i32::MAX, 0, -1, i32::MIN, 48, 49, 100_000] {
        for at in [0, second] {
            let mut changed = bytes.clone();
            changed[at + 8..at + 12].copy_from_slice(&length.to_be_bytes());
            let image = disk.copy();
            image.put(&path, &changed);
            let corrupt = refused(&image, &config);
            assert_eq!(corrupt.position, at as u64, "length {length}: {corrupt}");
        }
    }
}

#[test]
fn damaged_directories_are_refused() {
    let (config, script) = in_many_segments();
    let (disk, _) = history(&config, &script);
    let dir = Path::new(ROOT).join(partition_dir(0));
    let segments: Vec<_> = disk
        .files()
        .into_keys()
        .filter(|path| path.starts_with(&dir))
        .collect();
    assert!(segments.len() >= 3, "{segments:?}");
    let [first, middle, .., last] = &segments[..] else {
        panic!("{segments:?}")
    };
    let changed = |change: &dyn Fn(&SimDisk)| {
        let image = disk.copy();
        change(&image);
        refused(&image, &config)
    };
    let kind = |change: &dyn Fn(&SimDisk)| changed(change).kind;

    assert!(matches!(
        kind(&|d| d.take(first)),
        CorruptKind::MissingSegment {
            log_start_offset: 0
        }
    ));
    assert!(matches!(
        kind(&|d| d.take(middle)),
        CorruptKind::OffsetGap { .. }
    ));
    for segment in &segments {
        assert_eq!(kind(&|d| d.put(segment, b"")), CorruptKind::EmptySegment);
        let zeros = vec![0; disk.bytes(segment).len()];
        let found = kind(&|d| d.put(segment, &zeros));
        if segment == last {
            assert_eq!(found, CorruptKind::ZeroFilled);
        } else {
            assert!(matches!(found, CorruptKind::Batch(_)), "{found}");
        }
    }
    // A torn tail is one of the last segment only.
    let cut = disk.bytes(middle);
    let found = kind(&|d| d.put(middle, &cut[..cut.len() - 1]));
    assert!(matches!(found, CorruptKind::CutOff { .. }), "{found}");
    let found = kind(&|d| d.put(middle, &[cut.clone(), vec![0; 100]].concat()));
    assert!(matches!(found, CorruptKind::Batch(_)), "{found}");
    // The same records twice, and one segment in place of another.
    assert!(matches!(
        kind(&|d| d.put(&segment(0, 5), &d.bytes(first))),
        CorruptKind::OffsetBack { .. } | CorruptKind::OffsetGap { .. }
    ));
    assert!(matches!(
        kind(&|d| d.put(middle, &d.bytes(last))),
        CorruptKind::OffsetGap { .. }
    ));
    assert!(matches!(
        kind(&|d| d.put(last, &d.bytes(first))),
        CorruptKind::OffsetBack { .. }
    ));
    // Names that no store gives.
    for name in ["0.log", "00000000000000000000 copy.log", "x.log"] {
        assert_eq!(
            kind(&|d| d.put(&dir.join(name), b"x")),
            CorruptKind::SegmentName,
            "{name}"
        );
    }
    // The file of log start offsets.
    let starts = Path::new(ROOT).join(crate::layout::CHECKPOINT_FILE);
    assert_eq!(
        kind(&|d| d.put(&starts, b"0\n1\n")),
        CorruptKind::Checkpoint
    );
    let beyond = b"0\n1\n__share_group_state 0 100000\n";
    assert!(matches!(
        kind(&|d| d.put(&starts, beyond)),
        CorruptKind::MissingSegment { .. }
    ));
}

#[test]
fn a_state_partition_without_its_directory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("store");
    let config = StoreConfig {
        partitions: Some(2),
        ..config()
    };
    drop(StateStore::open(&root, &config, |_| ControlFlow::Continue(())).unwrap());
    std::fs::remove_dir(root.join(partition_dir(1))).unwrap();
    let error = StateStore::open(&root, &config, |_| ControlFlow::Continue(())).unwrap_err();
    assert!(
        matches!(&error, OpenError::Corrupt(corrupt) if corrupt.kind == CorruptKind::MissingPartition),
        "{error}"
    );
}
