//! Merge of state batches, at the edges of the offset space too.

use super::{StateBatch, StateBatches, combine};

fn b(first: i64, last: i64, state: i8, count: i16) -> StateBatch {
    StateBatch {
        first_offset: first,
        last_offset: last,
        delivery_state: state,
        delivery_count: count,
    }
}

#[test]
fn merges_resolve_to_the_higher_count_then_the_higher_state() {
    type Case = (Vec<StateBatch>, Vec<StateBatch>, i64, Vec<StateBatch>);
    let table: Vec<Case> = vec![
        (
            vec![b(100, 110, 0, 1)],
            vec![b(105, 108, 0, 1)],
            -1,
            vec![b(100, 110, 0, 1)],
        ),
        (
            vec![b(100, 110, 0, 1)],
            vec![b(100, 105, 0, 2)],
            -1,
            vec![b(100, 105, 0, 2), b(106, 110, 0, 1)],
        ),
        (
            vec![b(100, 110, 0, 3)],
            vec![b(100, 115, 0, 1)],
            -1,
            vec![b(100, 110, 0, 3), b(111, 115, 0, 1)],
        ),
        (
            vec![b(100, 115, 0, 1)],
            vec![b(105, 110, 1, 1)],
            -1,
            vec![b(100, 104, 0, 1), b(105, 110, 1, 1), b(111, 115, 0, 1)],
        ),
        (
            vec![b(100, 110, 0, 1), b(121, 130, 0, 1)],
            vec![b(111, 119, 2, 2), b(116, 123, 2, 2)],
            120,
            vec![b(120, 123, 2, 2), b(124, 130, 0, 1)],
        ),
        (
            vec![b(111, 120, 0, 1)],
            vec![b(111, 113, 0, 2), b(114, 114, 2, 1), b(115, 119, 0, 2)],
            -1,
            vec![
                b(111, 113, 0, 2),
                b(114, 114, 2, 1),
                b(115, 119, 0, 2),
                b(120, 120, 0, 1),
            ],
        ),
        (
            vec![b(100, 110, 0, 1)],
            vec![b(101, 105, 1, 2), b(101, 115, 2, 2), b(101, 120, 3, 2)],
            -1,
            vec![b(100, 100, 0, 1), b(101, 120, 3, 2)],
        ),
        (
            vec![b(0, 5, 0, 1)],
            vec![b(11, 15, 0, 1)],
            -1,
            vec![b(0, 5, 0, 1), b(11, 15, 0, 1)],
        ),
        (
            vec![b(0, 5, 0, 1)],
            vec![b(6, 10, 0, 1)],
            -1,
            vec![b(0, 10, 0, 1)],
        ),
        // A terminal state with a lower count than what is stored is lost.
        (
            vec![b(100, 109, 0, 3)],
            vec![b(100, 109, 2, 2)],
            -1,
            vec![b(100, 109, 0, 3)],
        ),
        // Kafka 4.2 left the equal neighbours of this one apart.
        (
            vec![b(9, 15, 4, 1)],
            vec![b(9, 13, 0, 1), b(3, 8, 4, 1)],
            -1,
            vec![b(3, 15, 4, 1)],
        ),
    ];
    assert_eq!(table.len(), 11);
    for (current, new, start_offset, merged) in table {
        assert_eq!(combine(&current, &new, start_offset), merged);
        assert_eq!(combine(&new, &current, start_offset), merged);
    }
}

/// A list that is in order but for one detail is merged all the same, and one in order is its own merge.
#[test]
fn a_list_alone_is_brought_to_its_canonical_form() {
    let table = [
        (
            vec![b(0, 5, 0, 1), b(5, 9, 2, 1)],
            0,
            vec![b(0, 4, 0, 1), b(5, 9, 2, 1)],
        ),
        (vec![b(0, 5, 0, 1), b(6, 9, 0, 1)], 0, vec![b(0, 9, 0, 1)]),
        (vec![b(0, 5, 0, 1), b(4, 3, 2, 1)], 0, vec![b(0, 5, 0, 1)]),
        (
            vec![b(0, 5, 0, 1), b(8, 9, 0, 1)],
            3,
            vec![b(3, 5, 0, 1), b(8, 9, 0, 1)],
        ),
        (
            vec![b(8, 9, 0, 1), b(0, 5, 0, 1)],
            -1,
            vec![b(0, 5, 0, 1), b(8, 9, 0, 1)],
        ),
        (
            vec![b(-3, 5, 0, 1), b(6, 9, 2, 1)],
            -1,
            vec![b(-3, 5, 0, 1), b(6, 9, 2, 1)],
        ),
    ];
    for (list, start_offset, merged) in table {
        assert_eq!(combine(&[], &list, start_offset), merged);
        assert_eq!(combine(&list, &[], start_offset), merged);
    }
}

#[test]
fn m2_batches_may_end_at_the_end_of_the_offset_space() {
    let end = i64::MAX;
    assert_eq!(
        combine(&[b(0, end, 0, 1)], &[b(10, end, 2, 1)], -1),
        [b(0, 9, 0, 1), b(10, end, 2, 1)]
    );
    assert_eq!(
        combine(&[b(end, end, 2, 1)], &[b(0, end, 0, 1)], end),
        [b(end, end, 2, 1)]
    );
    assert_eq!(
        combine(&[b(i64::MIN, end, 0, 1)], &[b(0, 0, 4, 1)], -1),
        [b(i64::MIN, -1, 0, 1), b(0, 0, 4, 1), b(1, end, 0, 1)]
    );
}

#[test]
fn m1_an_inverted_batch_covers_no_offset() {
    assert_eq!(
        combine(&[b(0, 20, 0, 1)], &[b(10, 5, 2, 1)], -1),
        [b(0, 20, 0, 1)]
    );
    assert_eq!(combine(&[b(i64::MAX, i64::MIN, 4, 9)], &[], 3), []);
}

#[test]
fn unknown_states_and_negative_counts_are_ordered_like_any_other() {
    assert_eq!(
        combine(
            &[b(0, 9, 4, 1)],
            &[b(5, 5, 7, 1), b(6, 6, -1, 1), b(7, 7, 4, -3)],
            -1
        ),
        [b(0, 4, 4, 1), b(5, 5, 7, 1), b(6, 9, 4, 1)]
    );
}

#[test]
fn a_stretch_between_greater_runs_is_filled_and_joined() {
    let mut batches = StateBatches::from_batches(&[b(0, 1, 0, 5), b(4, 5, 0, 5), b(8, 9, 0, 1)]);
    batches.merge(&[b(0, 9, 2, 3)], -1);
    assert_eq!(
        batches.to_vec(),
        [b(0, 1, 0, 5), b(2, 3, 2, 3), b(4, 5, 0, 5), b(6, 9, 2, 3)]
    );
    assert_eq!(batches.at(7), Some(b(6, 9, 2, 3)));
    assert_eq!(batches.at(10), None);
    batches.clip(-1);
    assert_eq!(batches.len(), 4);
    batches.clip(3);
    assert_eq!(
        batches.to_vec(),
        [b(3, 3, 2, 3), b(4, 5, 0, 5), b(6, 9, 2, 3)]
    );
    batches.clip(i64::MIN);
    assert_eq!(batches.len(), 3);
    batches.clip(i64::MAX);
    assert!(batches.is_empty() && batches == StateBatches::new());
}

/// The stress cases of Kafka's own suite (KAFKA-20690).
#[test]
fn long_lists_merge_to_their_canonical_form() {
    let contiguous: Vec<_> = (0..10_000).map(|i| b(i * 10, i * 10 + 9, 0, 1)).collect();
    assert_eq!(combine(&[], &contiguous, -1), [b(0, 99_999, 0, 1)]);

    // 7919 is prime to 5,000, so the steps visit every batch in a scattered order.
    let scattered: Vec<_> = (0..5_000)
        .map(|i| (i * 7919) % 5_000)
        .map(|i| b(i * 3, i * 3 + 2, 2, 1))
        .collect();
    assert_eq!(combine(&scattered, &[], -1), [b(0, 14_999, 2, 1)]);

    let alternating: Vec<_> = (0..1_000)
        .map(|i| b(i, i, if i % 2 == 0 { 0 } else { 2 }, 1))
        .collect();
    assert_eq!(combine(&alternating, &alternating, -1), alternating);
}

/// The short way for a leader's own lists takes only what a merge would leave as it is.
#[test]
fn a_list_is_merged_with_nothing_as_with_itself() {
    let lists = [
        vec![b(0, 5, 0, 1)],
        vec![b(0, 4, 0, 1), b(5, 9, 0, 1)],
        vec![b(0, 4, 0, 1), b(5, 9, 2, 1)],
        vec![b(0, 4, 0, 1), b(5, 9, 0, 2)],
        vec![b(0, 4, 0, 1), b(6, 9, 0, 1)],
        vec![b(0, 5, 0, 1), b(5, 9, 2, 1)],
        vec![b(5, 9, 0, 1), b(0, 4, 2, 1)],
        vec![b(9, 5, 0, 1)],
        vec![b(0, 9, 0, 1), b(0, 9, 0, 1)],
    ];
    for list in lists {
        for start_offset in [-1, 0, 1, 5, 7, 10] {
            let merged = combine(&list, &list, start_offset);
            assert_eq!(
                combine(&[], &list, start_offset),
                merged,
                "{list:?} from {start_offset}"
            );
        }
    }
    assert_eq!(combine(&[], &[b(0, 5, 0, 1)], 1), [b(1, 5, 0, 1)]);
    assert_eq!(combine(&[], &[b(9, 5, 0, 1)], -1), []);
    let overlap = [b(0, 5, 0, 1), b(5, 9, 2, 1)];
    let apart = [b(0, 4, 0, 1), b(5, 9, 2, 1)];
    assert_eq!(combine(&[], &overlap, -1), apart);
}

#[test]
fn runs_can_be_asked_for_by_range_and_compared() {
    use crate::offset::OffsetRange;

    let empty = StateBatches::new();
    let all = StateBatches::from_batches(&[b(10, 19, 0, 1), b(30, 39, 2, 1)]);
    assert_eq!((empty.is_empty(), empty.len()), (true, 0));
    assert_eq!((all.is_empty(), all.len()), (false, 2));
    assert_eq!(empty.bounds(), None);
    assert_eq!(all.bounds(), OffsetRange::new(10, 39));
    let within = |first, last| -> Vec<StateBatch> {
        let range = OffsetRange::new(first, last).unwrap();
        all.within(range).collect()
    };
    assert_eq!(within(15, 30), [b(15, 19, 0, 1), b(30, 30, 2, 1)]);
    assert_eq!(within(15, 29), [b(15, 19, 0, 1)]);
    assert_eq!(within(20, 29), []);
    assert_ne!(all, StateBatches::from_batches(&[b(10, 19, 0, 1)]));
    assert_ne!(
        all,
        StateBatches::from_batches(&[b(10, 19, 0, 1), b(30, 39, 2, 2)])
    );
    let text = format!("{:?}", StateBatches::from_batches(&[b(1, 2, 0, 3)]));
    assert_eq!(text, format!("{:?}", [b(1, 2, 0, 3)]));
}

/// A state that starts at 1 is clipped like any other; only -1 leaves all.
#[test]
fn a_clip_takes_what_lies_below() {
    let list = [b(0, 4, 0, 1)];
    for (start_offset, clipped, left) in [
        (-1, false, vec![b(0, 4, 0, 1)]),
        (0, false, vec![b(0, 4, 0, 1)]),
        (1, true, vec![b(1, 4, 0, 1)]),
        (5, true, vec![]),
    ] {
        let mut batches = StateBatches::from_batches(&list);
        assert_eq!(batches.clip(start_offset), clipped, "{start_offset}");
        assert_eq!(batches.to_vec(), left);
    }
}

#[test]
fn a_merge_says_whether_anything_changed() {
    let mut batches = StateBatches::new();
    assert!(batches.merge(&[b(0, 4, 0, 1)], -1));
    assert!(!batches.merge(&[b(0, 4, 0, 1)], -1));
    assert!(batches.merge(&[b(5, 9, 0, 1), b(0, 4, 0, 1)], -1));
    assert!(batches.merge(&[b(0, 4, 0, 1), b(10, 19, 0, 1)], -1));
}

#[test]
fn batches_tell_their_size() {
    let batches: Vec<StateBatch> = (0..1_000).map(|i| b(2 * i, 2 * i, 2, 1)).collect();
    let bytes = StateBatches::from_batches(&batches).heap_bytes();
    assert!(bytes >= 1_000 * 16, "{bytes}");
}
