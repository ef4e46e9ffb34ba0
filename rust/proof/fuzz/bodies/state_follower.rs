//! Any bytes as the answers to Fetch from a state partition that is followed, with checksums made to fit: it does not matter where
//! an answer ends, and what comes again says nothing.

use share_state_analysis::live::{Change, Follower, LiveRow};
use share_state_wire::record_batch::peek_size;

/// Runs one input: where the first answer ends, in bytes, and batches. Tells whether a record was read.
pub fn run(data: &[u8]) -> bool {
    let [high, low, batches @ ..] = data else {
        return false;
    };
    let cut = usize::from(u16::from_be_bytes([*high, *low])).min(batches.len());
    let batches = with_checksums(batches);
    let end = batches.len();

    let (mut whole, mut refused) = (Follower::new(0, 0), Vec::new());
    let new = whole.take(&batches, 0, end, &mut refused);
    assert!(new.start <= new.end && new.end <= end);
    assert!(refused.len() <= end);

    let mut in_pieces = Follower::new(0, 0);
    let first = in_pieces.take(&batches, 0, cut, &mut Vec::new());
    let second = in_pieces.take(&batches, 0, end, &mut Vec::new());
    assert!(first.end <= cut && second.start == first.end && second.end == new.end);
    assert_eq!(in_pieces.records(), whole.records());
    assert_eq!(in_pieces.next_offset(), whole.next_offset());
    assert_eq!(in_pieces.needed_from(), whole.needed_from());
    let told = told(&mut whole);
    assert_eq!(self::told(&mut in_pieces), told);
    assert_eq!(whole.len(), told.len());
    assert_eq!(anomalies(&mut in_pieces), anomalies(&mut whole));

    let (records, next_offset) = (whole.records(), whole.next_offset());
    let mut refused = Vec::new();
    assert!(whole.take(&batches, 0, end, &mut refused).is_empty());
    assert_eq!((whole.records(), whole.changes()), (records, Vec::new()));
    // What ends the walk is all that can be told again.
    assert!(refused.len() <= 1 && refused.iter().all(|one| one.offset == next_offset));
    records > 0
}

/// Anomalies in an order of their own.
fn anomalies(follower: &mut Follower) -> Vec<String> {
    let mut found = Vec::new();
    follower.anomalies(0, &mut found);
    let mut found: Vec<_> = found.iter().map(|one| format!("{one:?}")).collect();
    found.sort();
    found
}

fn told(follower: &mut Follower) -> Vec<LiveRow> {
    let mut rows = Vec::new();
    for change in follower.changes() {
        match change {
            Change::Now(row) => rows.push(*row),
            Change::Gone(key) => assert_eq!(follower.state(&key), None),
        }
    }
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    rows
}

/// Raw bytes never pass a checksum.
fn with_checksums(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    let mut rest = bytes.as_mut_slice();
    while let Ok(Some(size)) = peek_size(rest)
        && let Some((batch, after)) = rest.split_at_mut_checked(size)
        && let Some((front, covered)) = batch.split_at_mut_checked(21)
    {
        if let Some(crc) = front.get_mut(17..) {
            crc.copy_from_slice(&crc32c::crc32c(covered).to_be_bytes());
        }
        rest = after;
    }
    bytes
}
