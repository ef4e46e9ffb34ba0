//! The laws of the merge: it is a maximum per offset, so nothing but coverage counts.

use std::collections::BTreeMap;

use proptest::prelude::*;
use share_state_core::state_batch::{StateBatch, StateBatches, combine};

/// Few offsets, counts and states, so that batches collide; at the other end of the offset space as well.
fn batch() -> impl Strategy<Value = StateBatch> {
    let first = prop_oneof![0..40i64, i64::MAX - 40..=i64::MAX];
    (first, 0..12i64, -1..7i8, -1..5i16).prop_map(|(first, length, state, count)| StateBatch {
        first_offset: first,
        last_offset: first.saturating_add(length),
        delivery_state: state,
        delivery_count: count,
    })
}

fn batches() -> impl Strategy<Value = Vec<StateBatch>> {
    prop::collection::vec(batch(), 0..12)
}

fn start_offset() -> impl Strategy<Value = i64> {
    prop_oneof![Just(-1), 0..50i64, i64::MAX - 45..=i64::MAX]
}

/// The obvious twin: one entry an offset.
fn model(lists: &[&[StateBatch]], start_offset: i64) -> BTreeMap<i64, (i16, i8)> {
    let mut offsets = BTreeMap::new();
    for batch in lists.iter().copied().flatten() {
        for offset in batch.first_offset..=batch.last_offset {
            if start_offset == -1 || offset >= start_offset {
                let delivery = (batch.delivery_count, batch.delivery_state);
                let held = offsets.entry(offset).or_insert(delivery);
                *held = delivery.max(*held);
            }
        }
    }
    offsets
}

fn canonical(list: &[StateBatch]) -> bool {
    list.iter().all(|b| b.first_offset <= b.last_offset)
        && list.windows(2).all(|pair| {
            let (a, b) = (pair[0], pair[1]);
            let apart = a.last_offset < b.first_offset;
            let touching = a.last_offset.checked_add(1) == Some(b.first_offset);
            let equal =
                (a.delivery_count, a.delivery_state) == (b.delivery_count, b.delivery_state);
            apart && !(touching && equal)
        })
}

proptest! {
    #[test]
    fn a_merge_is_the_maximum_of_each_offset(a in batches(), b in batches(), start in start_offset()) {
        let merged = combine(&a, &b, start);
        prop_assert_eq!(model(&[&merged], -1), model(&[&a, &b], start));
        prop_assert!(canonical(&merged), "{:?}", merged);
    }

    #[test]
    fn a_merge_is_commutative_associative_and_idempotent(
        a in batches(), b in batches(), c in batches(), start in start_offset(),
    ) {
        prop_assert_eq!(combine(&a, &b, start), combine(&b, &a, start));
        prop_assert_eq!(
            combine(&combine(&a, &b, start), &c, start),
            combine(&a, &combine(&b, &c, start), start)
        );
        let once = combine(&a, &b, start);
        prop_assert_eq!(combine(&once, &b, start), once.clone());
        prop_assert_eq!(combine(&once, &once, start), once.clone());
        prop_assert_eq!(combine(&[], &once, start), once);
        prop_assert_eq!(combine(&[], &a, start), combine(&a, &[], start));
    }

    #[test]
    fn the_order_of_the_batches_does_not_matter(
        (list, shuffled) in batches().prop_flat_map(|l| (Just(l.clone()), Just(l).prop_shuffle())),
    ) {
        prop_assert_eq!(StateBatches::from_batches(&list), StateBatches::from_batches(&shuffled));
    }

    #[test]
    fn clipping_before_a_merge_is_clipping_after_it(a in batches(), b in batches(), start in start_offset()) {
        let mut late = StateBatches::from_batches(&a);
        late.merge(&b, -1);
        late.clip(start);
        let mut early = StateBatches::from_batches(&a);
        early.clip(start);
        early.merge(&b, start);
        prop_assert_eq!(&late, &early);
        prop_assert_eq!(late.to_vec(), combine(&a, &b, start));
    }

    #[test]
    fn clipping_twice_is_clipping_at_the_later_offset(a in batches(), low in 0..50i64, high in 0..50i64) {
        let mut twice = StateBatches::from_batches(&a);
        twice.clip(low);
        twice.clip(high);
        let mut once = StateBatches::from_batches(&a);
        once.clip(low.max(high));
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn inverted_batches_leave_no_trace(a in batches(), b in batch(), at in 0..12usize, start in start_offset()) {
        prop_assume!(b.first_offset < b.last_offset);
        let mut with = a.clone();
        let inverted = StateBatch { first_offset: b.last_offset, last_offset: b.first_offset, ..b };
        with.insert(at.min(a.len()), inverted);
        prop_assert_eq!(combine(&with, &[], start), combine(&a, &[], start));
    }

    #[test]
    fn an_offset_is_found_in_its_run(a in batches(), offset in prop_oneof![-2..60i64, i64::MAX - 45..=i64::MAX]) {
        let merged = StateBatches::from_batches(&a);
        let held = merged.at(offset).map(|b| (b.delivery_count, b.delivery_state));
        prop_assert_eq!(held, model(&[&a], -1).get(&offset).copied());
        prop_assert_eq!(merged.iter().count(), merged.len());
    }
}
