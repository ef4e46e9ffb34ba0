//! The note of where the logs end: after the next opening, damaged, and missing as in a directory that is older.

use super::*;
use crate::corrupt::CorruptKind;

/// A crash cannot tear what was whole when the store was opened before it.
#[test]
fn a_crash_after_the_next_opening_tears_only_what_came_since() {
    for sync in POLICIES {
        let config = StoreConfig { sync, ..config() };
        let (disk, history) = closed_history(&config, &script()[..8]);
        let path = segment(0, 0);
        let closed_at = disk.bytes(&path).len();
        let store = open(&disk, &config).unwrap();
        Command::Write(0, 60).run(&store, 5000).unwrap();
        let image = disk.copy();
        let bytes = image.bytes(&path);
        assert!(bytes.len() > closed_at);
        // Room that is reserved is zeros.
        let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        for cut in 1..end {
            image.put(&path, &bytes[..cut]);
            if cut < closed_at {
                assert_eq!(damages(&image, &config).len(), 1, "cut at {cut}");
            } else {
                let opened = open(&image.copy(), &config).unwrap();
                assert_eq!(Some(&opened.states().unwrap()), history.last());
            }
        }
    }
}

#[test]
fn a_damaged_note_keeps_no_sound_log_shut_and_hides_no_bad_byte() {
    let config = config();
    let (disk, history) = closed_history(&config, &script()[..8]);
    let note = disk.bytes(&meta());
    let path = segment(0, 0);
    let bytes = disk.bytes(&path);
    let begin = note
        .windows(4)
        .position(|window| window == b"end=")
        .expect("a note");
    for at in begin..note.len() {
        let mut flipped = note.clone();
        flipped[at] ^= 1;
        let image = disk.copy();
        image.put(&meta(), &flipped);
        let store = open(&image, &config).unwrap();
        assert!(store.recovery().note_damaged, "byte {at}");
        assert_eq!(Some(&store.states().unwrap()), history.last());
        drop(store);
        assert!(!open(&image, &config).unwrap().recovery().note_damaged);

        let image = disk.copy();
        image.put(&meta(), &flipped);
        image.put(&path, &bytes[..bytes.len() - 1]);
        let [damage] = &damages(&image, &config)[..] else {
            panic!()
        };
        assert!(matches!(damage.corrupt.kind, CorruptKind::CutOff { .. }));
        assert!(!damage.loss.is_exact);
    }
}

#[test]
fn a_directory_that_is_older_than_the_note_opens_as_it_did() {
    let config = config();
    let (disk, history) = closed_history(&config, &script()[..8]);
    let body = "format=1\npartitions=1\ntorn=last-batch\n";
    let older = format!("{body}crc32c={:08x}\n", crc32c::crc32c(body.as_bytes()));
    disk.put(&meta(), older.as_bytes());
    let path = segment(0, 0);
    let bytes = disk.bytes(&path);
    disk.put(&path, &bytes[..bytes.len() - 1]);
    let store = open(&disk, &config).unwrap();
    assert_eq!(store.states().unwrap(), history[7]);
    assert_eq!(store.recovery().torn.len(), 1);
    assert!(!store.recovery().note_damaged);
    drop(store);
    let noted = String::from_utf8(disk.bytes(&meta())).unwrap();
    assert!(noted.contains("torn=nothing"), "{noted}");
}
