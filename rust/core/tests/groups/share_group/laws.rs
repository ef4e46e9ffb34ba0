//! Laws that hold after every step of any sequence of requests, refused ones included.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use share_state_core::share_group::ShareGroups;

use super::support::{NAMES, Owner, SESSION_MS, altered, heartbeat, id_of, key};

const GROUPS: [&str; 2] = ["g", "h:1"];
const MEMBERS: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Clone, Debug)]
enum Step {
    /// A heartbeat with the member's epoch, moved by some.
    Beat(usize, usize, i32, Option<Vec<&'static str>>),
    Join(usize, usize, Vec<&'static str>),
    Leave(usize, usize),
    Wait(i64),
    Topics(&'static str, i32),
    TopicDeleted(&'static str),
    Alter(usize, &'static str, i32, bool),
    DeleteOffsets(usize, Vec<&'static str>, bool),
    DeleteGroup(usize, bool),
    /// The owner ends and begins again, from its whole log or from the live records.
    Restart(bool),
}

fn topic() -> impl Strategy<Value = &'static str> {
    prop::sample::select(NAMES.map(|(name, _)| name).to_vec())
}

fn topics() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(topic(), 1..4)
}

fn step() -> impl Strategy<Value = Step> {
    let (group, member) = (|| 0..GROUPS.len(), || 0..MEMBERS.len());
    let moved = prop_oneof![12 => Just(0), 1 => Just(-1), 1 => Just(1)];
    let said = prop::option::weighted(0.2, topics());
    prop_oneof![
        10 => (group(), member(), moved, said).prop_map(|(g, m, e, t)| Step::Beat(g, m, e, t)),
        5 => (group(), member(), topics()).prop_map(|(g, m, t)| Step::Join(g, m, t)),
        2 => (group(), member()).prop_map(|(g, m)| Step::Leave(g, m)),
        4 => prop_oneof![0..1_500i64, Just(SESSION_MS / 2), Just(SESSION_MS)].prop_map(Step::Wait),
        3 => (topic(), 0..5i32).prop_map(|(name, partitions)| Step::Topics(name, partitions)),
        1 => topic().prop_map(Step::TopicDeleted),
        1 => (group(), topic(), 0..3i32, any::<bool>()).prop_map(|(g, t, p, f)| Step::Alter(g, t, p, f)),
        1 => (group(), topics(), any::<bool>()).prop_map(|(g, t, f)| Step::DeleteOffsets(g, t, f)),
        1 => (group(), any::<bool>()).prop_map(|(g, f)| Step::DeleteGroup(g, f)),
        1 => any::<bool>().prop_map(Step::Restart),
    ]
}

fn member_epoch(groups: &ShareGroups, group: &str, member: &str) -> i32 {
    let described = groups.describe(group);
    let members = described.map_or_else(Vec::new, |described| described.members);
    members
        .iter()
        .find(|known| &*known.id == member)
        .map_or(1, |known| known.epoch)
}

fn take(owner: &mut Owner, step: &Step) {
    match step {
        Step::Beat(group, member, moved, topics) => {
            let (group, member) = (GROUPS[*group], MEMBERS[*member]);
            let epoch = member_epoch(&owner.groups, group, member)
                .saturating_add(*moved)
                .max(0);
            let _ = owner.heartbeat(group, member, epoch, topics.as_deref());
        }
        Step::Join(group, member, topics) => {
            let _ = owner.heartbeat(GROUPS[*group], MEMBERS[*member], 0, Some(topics));
        }
        Step::Leave(group, member) => {
            let _ = owner.heartbeat(GROUPS[*group], MEMBERS[*member], -1, None);
        }
        Step::Wait(ms) => {
            owner.wait(*ms);
            owner.expire();
        }
        Step::Topics(name, partitions) => owner.topics(&[(name, *partitions)]),
        Step::TopicDeleted(name) => {
            owner.topics(&[(name, 0)]);
            let records = owner.groups.decide_topics_deleted(&[id_of(name)]);
            records
                .iter()
                .for_each(|record| owner.groups.replay(record));
            owner.states.retain(|(_, id, _), _| *id != id_of(name));
            owner.log.push(records);
        }
        Step::Alter(group, name, partition, finish) => {
            let altered = [altered(name, *partition)];
            let begun = owner
                .groups
                .decide_begin_alter_offsets(GROUPS[*group], &altered);
            if owner.take(begun).is_ok() && *finish {
                let finished = owner
                    .groups
                    .decide_finish_alter_offsets(GROUPS[*group], &altered);
                owner.take(finished).unwrap();
            }
        }
        Step::DeleteOffsets(group, names, finish) => {
            let ids: Vec<_> = names.iter().map(|name| id_of(name)).collect();
            let begun = owner
                .groups
                .decide_begin_delete_offsets(GROUPS[*group], &ids);
            if owner.take(begun).is_ok() && *finish {
                owner
                    .states
                    .retain(|(of, id, _), _| of != GROUPS[*group] || !ids.contains(id));
                let finished = owner
                    .groups
                    .decide_finish_delete_offsets(GROUPS[*group], &ids);
                owner.take(finished).unwrap();
            }
        }
        Step::DeleteGroup(group, finish) => {
            let begun = owner.groups.decide_begin_delete_group(GROUPS[*group]);
            if owner.take(begun).is_ok() && *finish {
                owner.states.retain(|(of, _, _), _| of != GROUPS[*group]);
                let finished = owner.groups.decide_finish_delete_group(GROUPS[*group]);
                owner.take(finished).unwrap();
            }
        }
        Step::Restart(whole) => {
            let [all, live] = owner.reloaded();
            owner.groups = if *whole { all } else { live };
            owner.expire();
        }
    }
}

/// Description of every group, as an administrator sees it.
fn seen(groups: &ShareGroups) -> Vec<String> {
    let ids = groups.list().map(|(id, state)| (id.to_string(), state));
    ids.map(|(id, state)| {
        format!(
            "{id} {state:?} {:?} {:?}",
            groups.describe(&id),
            groups.state_partitions(&id)
        )
    })
    .collect()
}

/// A machine that has just loaded decides as the one that has been there all the time.
fn check_decisions(owner: &Owner, loaded: &ShareGroups) -> Result<(), TestCaseError> {
    for group in GROUPS {
        for member in MEMBERS {
            let epoch = member_epoch(loaded, group, member);
            for topics in [None, Some(&["jobs", "orders"][..])] {
                let request = heartbeat(group, member, epoch, topics);
                let decide =
                    |groups: &ShareGroups| groups.decide_heartbeat(&request, &[], owner.wall);
                prop_assert_eq!(decide(loaded), decide(&owner.groups));
                let missing = loaded.to_initialize(&request);
                prop_assert_eq!(missing, owner.groups.to_initialize(&request));
            }
        }
    }
    Ok(())
}

fn check(owner: &Owner, before: &BTreeMap<String, i32>) -> Result<(), TestCaseError> {
    owner.groups.check().map_err(TestCaseError::fail)?;
    // Replay of the whole log, or of the live records alone, gives the same.
    for groups in owner.reloaded() {
        prop_assert_eq!(seen(&groups), seen(&owner.groups));
        let live: Vec<_> = groups.live_records().collect();
        prop_assert_eq!(live, owner.groups.live_records().collect::<Vec<_>>());
        groups.check().map_err(TestCaseError::fail)?;
        check_decisions(owner, &groups)?;
    }
    for verb in &owner.log {
        let keys: BTreeSet<_> = verb.iter().map(key).collect();
        prop_assert_eq!(keys.len(), verb.len(), "a key twice: {:?}", verb);
    }
    for (group, epoch) in before {
        if let Some(described) = owner.groups.describe(group) {
            // A group that was deleted and made again begins again.
            prop_assert!(
                described.epoch >= *epoch || described.epoch == 1,
                "{group} went back from {epoch}"
            );
        }
    }
    Ok(())
}

fn epochs(groups: &ShareGroups) -> BTreeMap<String, i32> {
    let ids = groups.list().map(|(id, _)| id.to_string());
    ids.filter_map(|id| {
        let epoch = groups.describe(&id)?.epoch;
        Some((id, epoch))
    })
    .collect()
}

/// Everybody is heard until nothing changes: two rounds are enough.
fn calm_down(owner: &mut Owner) {
    for _ in 0..2 {
        owner.wait(1_000);
        for group in GROUPS {
            let Some(described) = owner.groups.describe(group) else {
                continue;
            };
            for member in described.members {
                owner
                    .heartbeat(group, &member.id, member.epoch, None)
                    .unwrap();
            }
        }
    }
}

/// Everything that has state and is subscribed to is consumed by somebody, and everybody knows what it is to consume.
fn check_calm(owner: &mut Owner) -> Result<(), TestCaseError> {
    calm_down(owner);
    let records = owner.log.len();
    calm_down(owner);
    prop_assert_eq!(
        owner.log.len(),
        records,
        "the group moves on by itself: {:?}",
        owner.log.last()
    );
    for group in GROUPS {
        let Some(described) = owner.groups.describe(group) else {
            continue;
        };
        prop_assert_eq!(described.epoch, described.assignment_epoch);
        let subscribed: BTreeSet<_> = described
            .members
            .iter()
            .flat_map(|member| member.metadata.subscribed_topics.clone())
            .collect();
        let held: BTreeSet<_> = described
            .members
            .iter()
            .flat_map(|member| member.assigned.partitions().collect::<Vec<_>>())
            .collect();
        let mut due = BTreeSet::new();
        for name in &subscribed {
            if let Some(partitions) = owner.topics.get(&**name) {
                due.extend((0..*partitions).map(|partition| (id_of(name), partition)));
            }
        }
        prop_assert_eq!(&held, &due, "of {}", group);
        for (id, partition) in held {
            let altered = owner.groups.state_partitions(group).unwrap_or_default();
            prop_assert!(altered.initialized[&id].partitions.contains(&partition));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_laws_hold_after_every_step(steps in prop::collection::vec(step(), 1..40)) {
        let mut owner = Owner::new();
        owner.topics(&[("orders", 3), ("jobs", 1)]);
        for step in &steps {
            let before = epochs(&owner.groups);
            take(&mut owner, step);
            check(&owner, &before)?;
        }
        check_calm(&mut owner)?;
    }
}
