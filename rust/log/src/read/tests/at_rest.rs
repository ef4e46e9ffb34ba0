//! Every byte of every file of a small store is changed: a reader tells it, or shows the same states.

use super::*;
use crate::config::SyncPolicy;
use crate::trials::at_rest::{last_segment, stores};
use crate::trials::changes::{Change, each_change, names};

#[test]
fn a_reader_tells_every_changed_byte_or_shows_the_same() {
    let root = Path::new("/store");
    let [closed, killed] = stores::<StateStore>(SyncPolicy::Always);
    let (mut told, mut same, mut shorter) = (0, 0, 0);
    for (disk, is_closed) in [(closed, true), (killed, false)] {
        let whole = fold_on(&disk, root);
        assert_eq!(whole.findings, []);
        let last_segment = last_segment(&disk);
        each_change(&disk, |image, path, change| {
            let what = format!("{} {change:?}, closed: {is_closed}", path.display());
            let folded = fold_on(image, root);
            let findings: Vec<_> = folded.findings.iter().map(ToString::to_string).collect();
            if let Some(finding) = findings.first() {
                let is_next = matches!(change, Change::Cut(_)) && finding.contains("follows where");
                assert!(names(finding, path) || is_next, "{what}: {finding}");
                told += 1;
            } else if folded.states == whole.states {
                same += 1;
            } else {
                // Between two batches nothing tells that there were more, unless the end was noted.
                assert!(matches!(change, Change::Cut(_)) && !is_closed, "{what}");
                assert_eq!(path, last_segment, "{what}");
                shorter += 1;
            }
        });
    }
    assert!(told > 4_000 && same > 300, "{told} told, {same} same");
    assert!(shorter < 20, "{shorter} shorter");
}

/// The offset of the first batch of a log lies outside its checksum; the name of the file tells it too.
#[test]
fn a_segment_that_begins_elsewhere_than_its_name_says_is_told() {
    let disk = broker(&[(0, [batch(1, 2), batch(3, 1)].concat())]);
    let (_, findings) = read(&disk);
    let gap = CorruptKind::OffsetGap {
        expected: 0,
        found: 1,
    };
    assert_eq!(kinds(&findings), [&gap]);
}
