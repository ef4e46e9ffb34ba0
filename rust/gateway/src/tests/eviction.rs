//! Eviction: the batches that go first, and those that stay known.

use super::*;

fn ring(reads: &[(i64, &[(i64, i64)])]) -> BatchRing {
    let mut ring = BatchRing::new();
    for (asked, list) in reads {
        ring.append(plain(*asked, batches(list))).unwrap();
    }
    ring
}

/// Bytes of a batch of five records.
const FIVE: usize = 66;

#[test]
fn whole_batches_go_from_the_old_end() {
    let mut ring = ring(&[(0, &[(0, 4), (5, 9)]), (10, &[(10, 14)])]);
    assert_eq!(ring.nbytes(), 3 * FIVE);
    assert_eq!(ring.evict(3 * FIVE), 0);
    assert_eq!(ring.evict(3 * FIVE - 1), FIVE);
    assert_eq!((ring.nbytes(), ring.batches()), (2 * FIVE, 2));
    assert_eq!(offsets(&mut ring, 5), Some(vec![(5, 9), (10, 14)]));
    assert_eq!((ring.holds(4), ring.first_offset()), (false, Some(5)));
    assert_eq!(ring.evict(0), 2 * FIVE);
    assert_eq!((ring.nbytes(), ring.end_offset()), (0, None));
}

#[test]
fn a_batch_is_as_long_as_it_is() {
    let ring = ring(&[(0, &[(0, 4), (8, 12)]), (50, &[(50, 50)])]);
    for (offset, bytes) in [(0, FIVE), (4, FIVE), (5, FIVE), (12, FIVE), (13, 0)] {
        assert_eq!(ring.first_batch_bytes(offset), bytes, "{offset}");
    }
    assert_eq!(ring.first_batch_bytes(50), ring.bytes_from(50, 1 << 20));
    assert_eq!(
        (ring.first_batch_bytes(49), ring.first_batch_bytes(51)),
        (0, 0)
    );
}

#[test]
fn a_hole_after_what_went_stays_a_fact() {
    let mut ring = ring(&[(0, &[(0, 4), (20, 24)])]);
    ring.evict(FIVE);
    assert_eq!(
        (ring.holds(4), ring.holds(5), ring.first_offset()),
        (false, true, Some(5))
    );
}

#[test]
fn the_run_goes_first_whose_old_end_was_filled_or_given_out_longest_ago() {
    let reads: &[(i64, &[(i64, i64)])] = &[
        (100, &[(100, 104)]),
        (105, &[(105, 109)]),
        (0, &[(0, 4), (5, 9)]),
    ];
    let mut filled = ring(reads);
    filled.evict(3 * FIVE);
    assert!(filled.holds(0) && !filled.holds(100) && filled.holds(105));
    filled.evict(2 * FIVE);
    assert!(filled.holds(0) && !filled.holds(105));

    let mut given_out = ring(reads);
    let slice = given_out.slice(100, ALL).unwrap();
    given_out.pieces(&slice, 0, 2);
    given_out.evict(3 * FIVE);
    assert!(!given_out.holds(0) && given_out.holds(5) && given_out.holds(100));
}

#[test]
fn a_read_goes_on_where_the_run_ends_after_an_eviction() {
    let mut ring = ring(&[(0, &[(0, 4), (5, 9)])]);
    ring.evict(FIVE);
    ring.append(plain(10, batches(&[(12, 14)]))).unwrap();
    assert_eq!(offsets(&mut ring, 5), Some(vec![(5, 9), (12, 14)]));
    assert!(ring.holds(11));
    // What was evicted can be read again; it does not join what came after it, for that is not worth a copy of the rule.
    ring.append(plain(0, batches(&[(0, 4)]))).unwrap();
    assert_eq!(offsets(&mut ring, 0), Some(vec![(0, 4)]));
}
