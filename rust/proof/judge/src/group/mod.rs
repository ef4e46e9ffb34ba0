//! Sequences on share groups: the share verbs of Kafka's group coordinator beside ours.

mod administration;
mod alter;
mod delete;
mod generate;
mod heartbeat;
mod initialize;
mod log;
mod operation;
mod ours;
mod point;
mod seen;
mod state;
mod targets;
#[cfg(test)]
mod tests;
mod text;

use serde_json::{Value, json};

use crate::profile::{Class, Difference, Profile, Verdict};
use crate::random::Random;
use administration::Both;
use operation::GroupOperation;
use ours::Ours;
use point::{Points, RULES};

/// The profile `group`.
pub struct OnGroups;

impl Profile for OnGroups {
    type Operation = GroupOperation;

    const NAME: &'static str = "group";
    const SUITE: &'static str = "share_group";

    fn rules() -> Vec<Class> {
        RULES.to_vec()
    }

    fn generate(random: &mut Random, length: usize, _: &[usize]) -> Vec<GroupOperation> {
        generate::generate(random, length)
    }

    /// The first operation sets the clocks: without it the clock on the wall might stand below 0.
    fn mended(ops: Vec<GroupOperation>) -> Option<Vec<GroupOperation>> {
        matches!(ops.first(), Some(GroupOperation::Create { .. })).then_some(ops)
    }

    fn smaller(op: &GroupOperation) -> Vec<GroupOperation> {
        op.smaller()
    }

    fn to_json(op: &GroupOperation) -> Value {
        op.to_json()
    }

    fn name_of(op: &GroupOperation) -> &'static str {
        op.name()
    }

    fn judge(ops: &[GroupOperation], given: &[Value]) -> Verdict {
        let mut ours = Ours::default();
        let mut verdict = Verdict::default();
        let mut state = json!({});
        for (at, (op, given)) in ops.iter().zip(given).enumerate() {
            if matches!(op, GroupOperation::Create { .. }) {
                state = json!({});
            }
            verdict.compared += 1;
            let meetings = seen::meetings(&ours, op, given);
            let (mut points, reached) = play(&mut ours, op, given);
            if let Some(new) = given.get("state") {
                state = new.clone();
            }
            points.same("state", state::kafka(&state, &ours), state::ours(&ours));
            let agree = points.0.is_empty();
            let mut seen = Vec::new();
            for point in points.0 {
                // A heartbeat may differ in the same way for many partitions.
                if point.class.is_some() && seen.contains(&point.class) {
                    continue;
                }
                seen.push(point.class);
                let difference =
                    Difference::new(at, point.what, point.kafka, point.ours, point.class);
                if difference.class.is_none() {
                    verdict.difference = Some(difference);
                    return verdict;
                }
                verdict.explained.push(difference);
            }
            let meetings = meetings.into_iter().map(str::to_owned);
            verdict.reached.extend(meetings);
            if agree {
                verdict.reached.push(format!("{}: {reached}", op.name()));
            }
        }
        verdict
    }
}

/// Plays an operation on our side, compares, and takes over what Kafka has decided.
fn play(ours: &mut Ours, op: &GroupOperation, given: &Value) -> (Points, String) {
    if let GroupOperation::Heartbeat(beat) = op {
        return heartbeat::compare(ours, beat, given);
    }
    let mut both = Both {
        ours,
        given,
        points: Points::default(),
    };
    let done = || "done".to_owned();
    let reached = match op {
        GroupOperation::Heartbeat(_) => done(),
        GroupOperation::Create { config, now } => {
            *both.ours = Ours::new(config, *now);
            done()
        }
        GroupOperation::InitializeAnswer { code, .. } => {
            // Ours has no such step: its callers initialise before the heartbeat.
            both.adopt();
            code.to_string()
        }
        GroupOperation::Advance { ms, wall } => both.advance(*ms, *wall),
        GroupOperation::Topics(topics) => {
            let gone = both.ours.set_topics(topics);
            both.deleted(&gone)
        }
        GroupOperation::Configure { group, config } => {
            both.ours.configure(group, config);
            done()
        }
        GroupOperation::Restart { compacted } => {
            both.ours.restart(*compacted);
            done()
        }
        GroupOperation::Describe { group } => both.describe(group),
        GroupOperation::List => both.list(),
        GroupOperation::Initialized { group } => {
            both.initialized(group);
            done()
        }
        GroupOperation::DeleteGroup { group, persister } => both.delete_group(group, *persister),
        GroupOperation::Alter {
            group,
            topics,
            persister,
        } => both.alter(group, topics, *persister),
        GroupOperation::DeleteOffsets {
            group,
            topics,
            persister,
        } => both.delete_offsets(group, topics, *persister),
    };
    (both.points, reached)
}
