//! Random groups, one assignment after the other: members come, go and change their topics, partitions come and go.

use std::collections::{BTreeMap, BTreeSet};

use share_state_core::assignor::Assignment;

use super::operation::{Assign, Member, topic_id};
use crate::random::Random;

/// The sequence of a seed. What members have is mostly what we answered before.
pub fn generate(random: &mut Random, length: usize) -> Vec<Assign> {
    let most_topics = random.pick(&[1, 2, 3, 5]);
    let most_partitions = random.pick(&[1, 3, 6, 12]);
    let most_members = random.pick(&[1, 3, 6, 6, 20]);
    let alike = random.percent(50);
    let mut op = Assign::default();
    let mut ops = Vec::new();
    while ops.len() < length {
        for _ in 0..=random.below(3) {
            change(
                random,
                &mut op,
                (most_topics, most_partitions, most_members),
                alike,
            );
        }
        if random.one_in(40) {
            shuffle(random, &mut op);
        }
        if random.one_in(100) {
            let mut unknown = op.clone();
            if let Some(member) = unknown.members.values_mut().next() {
                member.subscribed.insert(9);
            }
            ops.push(unknown);
        }
        ops.push(op.clone());
        answered(&mut op);
    }
    ops.truncate(length);
    ops
}

fn change(random: &mut Random, op: &mut Assign, most: (u64, i64, u64), alike: bool) {
    let (topics, partitions, members) = most;
    let topic = random.below(topics) as u8 + 1;
    let member = random.below(members) as u8;
    match random.below(10) {
        0 | 1 => {
            // A topic comes, grows, or goes.
            if random.one_in(6) {
                op.topics.remove(&topic);
                op.not_assignable.remove(&topic);
                for member in op.members.values_mut() {
                    member.subscribed.remove(&topic);
                }
            } else {
                let count = op.topics.entry(topic).or_default();
                *count = (*count + random.between(0, partitions) as i32).min(partitions as i32 * 2);
            }
        }
        2 if random.percent(30) => {
            let count = op.topics.get(&topic).copied().unwrap_or_default();
            let not = op.not_assignable.entry(topic).or_default();
            if random.percent(60) {
                not.clear();
            }
            for _ in 0..random.below(3) {
                not.insert(random.between(0, i64::from(count)) as i32);
            }
        }
        3 => {
            op.members.remove(&member);
        }
        4 if !alike => {
            let subscribed = subscription(random, op);
            if let Some(member) = op.members.get_mut(&member) {
                member.subscribed = subscribed;
            }
        }
        _ => {
            let subscribed = if alike {
                op.topics.keys().copied().collect()
            } else {
                subscription(random, op)
            };
            op.members.entry(member).or_insert(Member {
                subscribed,
                current: Assignment::EMPTY,
            });
        }
    }
    if alike {
        let all: BTreeSet<u8> = op.topics.keys().copied().collect();
        for member in op.members.values_mut() {
            member.subscribed.clone_from(&all);
        }
    }
}

fn subscription(random: &mut Random, op: &Assign) -> BTreeSet<u8> {
    let known = op.topics.keys().copied();
    known.filter(|_| random.percent(65)).collect()
}

/// Members have what they should not: too much, too little, or what is there no more.
fn shuffle(random: &mut Random, op: &mut Assign) {
    for member in op.members.values_mut() {
        let mut has: BTreeMap<_, ()> = member.current.partitions().map(|p| (p, ())).collect();
        for _ in 0..random.below(4) {
            let topic = topic_id(random.below(6) as u8 + 1);
            has.insert((topic, random.between(0, 12) as i32), ());
        }
        let kept = has.into_keys().filter(|_| random.percent(80));
        member.current = kept.collect();
    }
}

/// Members have what we answer.
fn answered(op: &mut Assign) {
    if let Some(answer) = super::answer(&op.question()) {
        for (member, answer) in op.members.values_mut().zip(answer) {
            member.current = answer;
        }
    }
}
