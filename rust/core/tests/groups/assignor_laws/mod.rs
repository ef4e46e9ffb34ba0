//! Laws of every answer of the simple assignor, whatever members, topics and old targets there are.

#[cfg(test)]
mod group;

use std::collections::BTreeMap;

use group::{Group, partitions, random_group, same_topics};
use proptest::prelude::*;
use share_state_core::assignor::{AssignableTopics, Assignment, Subscriber, UnknownTopic, assign};
use share_state_core::ids::TopicId;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_partition_has_its_members_and_nobody_a_foreign_topic(group in random_group()) {
        let targets = group.assign();
        group.check_coverage(&targets)?;
    }

    #[test]
    fn members_of_the_same_topics_differ_by_one_at_most(group in same_topics()) {
        let targets = group.assign();
        group.check_coverage(&targets)?;
        let counts = || targets.iter().map(Assignment::len);
        let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        prop_assert!(most - least <= 1, "{targets:?}");
    }

    #[test]
    fn what_was_assigned_stays_when_nothing_changes(group in random_group()) {
        let targets = group.assign();
        let again = group.with_targets(targets.clone()).assign();
        prop_assert_eq!(again, targets);
    }

    #[test]
    fn the_order_of_topics_and_old_targets_decides_alone(group in random_group()) {
        prop_assert_eq!(group.assign(), group.assign());
    }

    #[test]
    fn a_member_that_comes_or_goes_moves_what_the_balance_needs(
        group in same_topics(),
        leaves in any::<Option<prop::sample::Index>>(),
    ) {
        let before = group.with_targets(group.assign());
        let after = match leaves {
            Some(index) if before.members.len() > 1 => before.without(index.index(before.members.len())),
            _ => before.with_newcomer(),
        };
        let targets = after.assign();
        let (members, all) = (after.members.len(), partitions(&after.topics));
        let sharing = members.div_ceil(all.len().max(1));
        let gifts = sharing * all.len();
        // Members that may keep one more than the rest, and what the rest must give back.
        let (least, mut extra) = (gifts / members, gifts % members);
        let mut over = 0;
        let mut holders = BTreeMap::new();
        for (_, current) in &after.members {
            let mut keeps = least;
            if current.len() > least && extra > 0 {
                keeps += 1;
                extra -= 1;
            }
            over += current.len().saturating_sub(keeps);
            current.partitions().for_each(|partition| *holders.entry(partition).or_insert(0) += 1);
        }
        let crowd: usize = holders.values().map(|count: &usize| count.saturating_sub(sharing)).sum();
        let moved: usize = after
            .members
            .iter()
            .zip(&targets)
            .map(|((_, old), new)| old.partitions().filter(|(id, p)| !new.contains(*id, *p)).count())
            .sum();
        prop_assert!(moved <= over + crowd, "{moved} moved, {over} over, {crowd} crowded: {after:?} {targets:?}");
        prop_assert!(moved >= over.max(crowd));
        if crowd == 0 {
            prop_assert_eq!(moved, over);
        }
    }
}

/// Kafka's cursor, once it went round without a gift, gives nobody the partitions that follow.
#[test]
fn a_partition_that_nobody_held_gets_members_beside_crowded_ones() {
    let topic = TopicId([1; 16]);
    let group = Group {
        topics: AssignableTopics::from([(topic, (0..3).collect())]),
        members: (0..5)
            .map(|member| {
                let current = [(topic, member % 2)].into_iter().collect();
                ([topic].into(), current)
            })
            .collect(),
    };
    let targets = group.assign();
    group.check_coverage(&targets).unwrap();
    assert!(targets.iter().any(|target| target.contains(topic, 2)));
}

#[test]
fn a_thousand_members_share_one_partition_and_one_member_takes_thousands() {
    let topic = TopicId([1; 16]);
    let crowd = Group {
        topics: AssignableTopics::from([(topic, [0].into())]),
        members: vec![([topic].into(), Assignment::EMPTY); 1_000],
    };
    assert!(crowd.assign().iter().all(|target| target.len() == 1));
    let one = Group {
        topics: AssignableTopics::from([(topic, (0..20_000).collect())]),
        members: vec![([topic].into(), Assignment::EMPTY)],
    };
    assert_eq!(one.assign()[0].len(), 20_000);
}

#[test]
fn a_topic_that_does_not_exist_is_named() {
    let (known, unknown) = (TopicId([1; 16]), TopicId([2; 16]));
    let members = [Subscriber {
        topics: [known, unknown].into(),
        current: &Assignment::EMPTY,
    }];
    let topics = AssignableTopics::from([(known, [0].into())]);
    assert_eq!(assign(&members, &topics), Err(UnknownTopic(unknown)));
    assert_eq!(assign(&[], &topics), Ok(vec![]));
}
