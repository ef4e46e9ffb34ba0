//! Comparison of assignments: each flaw is seen.

use std::collections::BTreeSet;

use share_state_core::assignor::Assignment;
use share_state_core::ids::TopicId;

use super::operation::topic_id;
use super::properties::{Flaw, Question};
use super::{ASSIGNED, Agreement, COUNTED, KEPT, LAP, NOBODY_LEFT, PARTS, compare};
use crate::profile::Class;

const A: u8 = 1;
const B: u8 = 2;

fn assigned(partitions: &[(u8, i32)]) -> Assignment {
    partitions.iter().map(|(t, p)| (topic_id(*t), *p)).collect()
}

/// A member's topics, and what it has.
type Member<'a> = (&'a [u8], &'a [(u8, i32)]);

/// Members, and topics with their partitions.
fn question(members: &[Member<'_>], topics: &[(u8, i32)]) -> Question {
    let ids =
        |topics: &[u8]| -> BTreeSet<TopicId> { topics.iter().copied().map(topic_id).collect() };
    let homogeneous = members.iter().all(|(topics, _)| *topics == members[0].0);
    Question {
        members: members
            .iter()
            .map(|(topics, current)| (ids(topics), assigned(current)))
            .collect(),
        topics: topics
            .iter()
            .map(|(topic, count)| (topic_id(*topic), (0..*count).collect()))
            .collect(),
        homogeneous,
    }
}

fn class(agreement: &Agreement) -> Option<Option<Class>> {
    match agreement {
        Agreement::Reached(_) => None,
        Agreement::Differs(_, class) => Some(*class),
    }
}

#[test]
fn each_flaw_is_seen() {
    let q = question(&[(&[A], &[]), (&[A], &[])], &[(A, 2), (B, 1)]);
    let flaws =
        |answer: &[&[(u8, i32)]]| q.flaws(&answer.iter().map(|a| assigned(a)).collect::<Vec<_>>());
    assert!(flaws(&[&[(A, 0)], &[(A, 1)]]).is_empty());
    let partition = |p| (topic_id(A), p);
    assert_eq!(
        flaws(&[&[(A, 0)], &[(A, 0)]]),
        [
            Flaw::TooFewHolders(partition(1)),
            Flaw::TooManyHolders(partition(0))
        ]
        .into()
    );
    assert_eq!(flaws(&[&[(A, 0), (A, 1)], &[]]), [Flaw::Uneven].into());
    assert_eq!(
        flaws(&[&[(A, 0), (B, 0)], &[(A, 1)]]),
        [Flaw::Foreign(0, (topic_id(B), 0))].into()
    );
}

#[test]
fn differences_that_nothing_explains_are_not_explained() {
    let q = question(&[(&[A], &[]), (&[A], &[])], &[(A, 2)]);
    let good = [assigned(&[(A, 0)]), assigned(&[(A, 1)])];
    let other = [assigned(&[(A, 1)]), assigned(&[(A, 0)])];
    assert_eq!(class(&compare(&q, Ok(&other), Some(&good))), None);
    let bad = [assigned(&[(A, 0), (A, 1)]), assigned(&[])];
    assert_eq!(class(&compare(&q, Ok(&good), Some(&bad))), Some(None));
    assert_eq!(class(&compare(&q, Ok(&bad), Some(&good))), Some(None));
    assert_eq!(class(&compare(&q, Err("?"), Some(&good))), Some(None));
    assert_eq!(
        class(&compare(&q, Err(NOBODY_LEFT), Some(&good))),
        Some(None)
    );
    assert_eq!(class(&compare(&q, Ok(&good), None)), Some(None));
    // Who has just as much as the others keeps it.
    let held = question(&[(&[A], &[(A, 0)]), (&[A], &[(A, 1)])], &[(A, 2)]);
    assert_eq!(class(&compare(&held, Ok(&other), Some(&good))), Some(None));
}

#[test]
fn each_deliberate_difference_is_recognised() {
    let all = [assigned(&[(A, 0)]), assigned(&[(A, 0)])];
    let lap = question(&[(&[A], &[(A, 0)]), (&[A], &[])], &[(A, 1)]);
    let one = [assigned(&[(A, 0)]), assigned(&[])];
    assert_eq!(class(&compare(&lap, Ok(&one), Some(&all))), Some(Some(LAP)));

    let gone = question(&[(&[A], &[(A, 0), (A, 7)])], &[(A, 1)]);
    let (kept, dropped) = ([assigned(&[(A, 0), (A, 7)])], [assigned(&[(A, 0)])]);
    assert_eq!(
        class(&compare(&gone, Ok(&kept), Some(&dropped))),
        Some(Some(ASSIGNED))
    );
    assert_eq!(
        class(&compare(&gone, Err(NOBODY_LEFT), Some(&dropped))),
        Some(Some(COUNTED))
    );

    let unsubscribed = question(&[(&[A], &[(B, 0)]), (&[], &[])], &[(A, 1), (B, 1)]);
    let kept = [assigned(&[(A, 0), (B, 0)]), assigned(&[])];
    let dropped = [assigned(&[(A, 0)]), assigned(&[])];
    assert_eq!(
        class(&compare(&unsubscribed, Ok(&kept), Some(&dropped))),
        Some(Some(KEPT))
    );
}

/// Nineteen members and 21 partitions: in floating point the parts add up to 22.
#[test]
fn parts_that_do_not_add_up_are_recognised() {
    let members: Vec<Member<'_>> = vec![(&[A], &[]); 19];
    let q = question(&members, &[(A, 21)]);
    let one_each = |extra: &[usize], without: Option<usize>| -> Vec<Assignment> {
        let mut next = 0..21;
        let count = |member: usize| {
            1 + usize::from(extra.contains(&member)) - usize::from(without == Some(member))
        };
        (0..19)
            .map(|member| {
                next.by_ref()
                    .take(count(member))
                    .map(|p| (topic_id(A), p))
                    .collect()
            })
            .collect()
    };
    let (ours, kafka) = (one_each(&[0, 9], None), one_each(&[0, 9, 18], Some(17)));
    assert_eq!(
        class(&compare(&q, Ok(&kafka), Some(&ours))),
        Some(Some(PARTS))
    );
    let fewer: Vec<Member<'_>> = vec![(&[A], &[]); 4];
    assert!(!question(&fewer, &[(A, 6)]).parts_do_not_add_up());
}
