//! Meetings of two things that chance seldom brings together.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use share_state_core::share_group::GroupValue;

use super::operation::{Beat, Epoch, GroupOperation};
use super::ours::Ours;

/// Meetings of an operation; `ours` is our side before it, `given` its answer.
pub fn meetings(ours: &Ours, op: &GroupOperation, given: &Value) -> Vec<&'static str> {
    let mut met = Vec::new();
    let mut note = |what: &'static str, is: bool| met.extend(is.then_some(what));
    match op {
        GroupOperation::Heartbeat(beat) => of_heartbeat(ours, beat, given, &mut note),
        GroupOperation::Advance { ms, wall } => {
            let ends = records(given, TOMBSTONES_OF_MEMBERS);
            note("meeting: several sessions end together", ends > 1);
            note(
                "meeting: the clock on the wall goes back",
                *wall < 0 && *ms > 0,
            );
        }
        GroupOperation::Topics(topics) => {
            let again = topics.iter().any(|topic| {
                let before = ours.topic(&topic.name);
                before.is_some_and(|before| before.id != topic.id)
            });
            note("meeting: a topic is gone and made again", again);
            let grows = topics.iter().any(|topic| {
                let before = ours.topic(&topic.name);
                before.is_some_and(|before| {
                    before.id == topic.id && before.partitions < topic.partitions
                })
            });
            note("meeting: a topic grows", grows);
        }
        GroupOperation::InitializeAnswer { group, code } => {
            let asked = ours.latest.state_partitions(group);
            let gone = asked.is_some_and(|lists| {
                let mut ids = lists.initializing.keys();
                ids.any(|id| ours.topics.iter().all(|topic| topic.id != *id))
            });
            let answered = given.get("records").is_some();
            note(
                "meeting: state is initialised",
                answered && *code == 0 && !gone,
            );
            note("meeting: an initialisation fails", answered && *code != 0);
            note(
                "meeting: an initialisation of a group that has none under way",
                answered && asked.is_none_or(|lists| lists.initializing.is_empty()),
            );
        }
        GroupOperation::Restart { compacted } => {
            let mut groups = ours.groups.list();
            let under_way = groups.any(|(group, _)| {
                let lists = ours.latest.state_partitions(group);
                lists.is_some_and(|lists| !lists.initializing.is_empty())
            });
            note(
                "meeting: a restart with an initialisation under way",
                under_way,
            );
            note("meeting: a restart from a compacted log", *compacted);
        }
        GroupOperation::DeleteGroup { group, .. } => {
            let lists = ours.latest.state_partitions(group);
            note(
                "meeting: a group is deleted with its states",
                given["result"].get("delete").is_some(),
            );
            note(
                "meeting: a group is deleted again",
                lists.is_some_and(|lists| !lists.deleting.is_empty()),
            );
        }
        GroupOperation::DeleteOffsets { group, .. } => {
            let lists = ours.latest.state_partitions(group);
            note(
                "meeting: offsets are deleted again",
                given["result"].get("delete").is_some()
                    && lists.is_some_and(|lists| !lists.deleting.is_empty()),
            );
        }
        GroupOperation::Alter { group, .. } => {
            let altered = given["result"].get("initialize").is_some();
            note(
                "meeting: offsets are altered of a group that has others",
                altered && ours.latest.has_epoch(group),
            );
        }
        _ => {}
    }
    met
}

/// Key type of record 10, with the value that deletes it.
const TOMBSTONES_OF_MEMBERS: &str = "000a";

fn records(given: &Value, key_type: &str) -> usize {
    let records = given["records"].as_array().into_iter().flatten();
    let of_type = records.filter(|record| {
        record[0]
            .as_str()
            .is_some_and(|key| key.starts_with(key_type))
    });
    of_type.count()
}

fn of_heartbeat(
    ours: &Ours,
    beat: &Beat,
    given: &Value,
    note: &mut impl FnMut(&'static str, bool),
) {
    let accepted = given["result"]["code"] == 0;
    let mut is_member = false;
    let mut members: BTreeSet<&Vec<Arc<str>>> = BTreeSet::new();
    let mut count = 0;
    let (mut epoch, mut assigned) = (0, 0);
    for record in ours.latest.of(&beat.group) {
        match &record.value {
            GroupValue::Member(member, Some(metadata)) => {
                count += 1;
                is_member |= **member == *beat.member;
                members.insert(&metadata.subscribed_topics);
            }
            GroupValue::Group(Some(group)) => epoch = group.epoch,
            GroupValue::TargetAssignment(Some(target)) => assigned = target.assignment_epoch,
            _ => {}
        }
    }
    note(
        "meeting: a heartbeat is repeated with the epoch before",
        accepted && beat.epoch == Epoch::Previous,
    );
    note(
        "meeting: a member joins again",
        accepted && is_member && beat.epoch == Epoch::Is(0),
    );
    note(
        "meeting: the last member leaves",
        accepted && count == 1 && beat.epoch == Epoch::Is(-1),
    );
    note(
        "meeting: an assignment was held back, and is made",
        accepted && assigned < epoch && records(given, "000c") > 0 && beat.epoch != Epoch::Is(-1),
    );
    note(
        "meeting: members with different topics",
        accepted && members.len() > 1 && records(given, "000d") > 0,
    );
    let unknown = beat.topics.iter().flatten();
    let unknown = unknown.filter(|name| ours.topic(name).is_none()).count();
    note(
        "meeting: a topic that does not exist is subscribed to",
        accepted && unknown > 0,
    );
    note(
        "meeting: a subscription to nothing",
        accepted && beat.topics.as_ref().is_some_and(Vec::is_empty),
    );
    let starts = given["initialize"].as_object().into_iter().flatten();
    let at_zero = starts.flat_map(|(_, partitions)| partitions.as_array().into_iter().flatten());
    let at_zero = at_zero.filter(|partition| partition[2] == 0).count();
    note("meeting: a topic that is consumed has grown", at_zero > 0);
}
