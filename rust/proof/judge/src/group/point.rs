//! Points in which an operation differs, and the deliberate differences of share groups.

use crate::profile::Class;

/// A point in which the two sides differ.
#[derive(Clone, Debug)]
pub struct Point {
    /// Name of the point that differs.
    pub what: &'static str,
    /// Kafka's side.
    pub kafka: String,
    /// Ours.
    pub ours: String,
    /// The deliberate difference that it is.
    pub class: Option<Class>,
}

/// A member of a group that does not exist.
pub const G1: Class = ("G1", "a member of a lost group");
/// The state epoch is the one that the assignment will have.
pub const G2_EPOCH: Class = ("G2", "the state epoch that the assignment has");
/// A state that is being initialised is initialised again.
pub const G2_AGAIN: Class = ("G2", "an initialisation whose answer is out");
/// The start of a topic that was never initialised.
pub const G2_START: Class = ("G2", "the start of a topic that is only being initialised");
/// A member is told to be heard soon.
pub const G4: Class = ("G4", "an assignment is due that the interval holds back");
/// Alter raises the group epoch.
pub const G5: Class = ("G5", "offsets are altered");
/// The targets are younger than the clock.
pub const G6: Class = ("G6", "the clock on the wall has gone back");
/// Kafka's targets hold what cannot be assigned any more, and it lets them.
pub const G7: Class = ("G7", "a target with what cannot be assigned");
/// A new group's epoch.
pub const G8: Class = ("G8", "a group begins");
/// Offsets of a group that has none.
pub const G9: Class = ("G9", "offsets are deleted of a group without any");
/// Too long a member id.
pub const G10: Class = ("G10", "a member id longer than a UUID");
/// A group is deleted again, and a topic is gone meanwhile.
pub const G11: Class = ("G11", "a group is deleted whose deleted topics are gone");
/// Other offsets are altered while a topic is in two lists.
pub const G11_OTHER: Class = (
    "G11",
    "offsets are altered while states of another topic come and go",
);
/// Kafka lists the topic without a partition.
pub const G12: Class = ("G12", "offsets are altered of partitions that do not exist");
/// Kafka tells a member its new assignment once.
pub const G13: Class = ("G13", "a member says the epoch before");

/// The deliberate differences that are recognised here.
pub const RULES: [Class; 15] = [
    G1, G2_EPOCH, G2_AGAIN, G2_START, G4, G5, G6, G7, G8, G9, G10, G11, G11_OTHER, G12, G13,
];

/// Collects points.
#[derive(Default)]
pub struct Points(pub Vec<Point>);

impl Points {
    /// Compares two texts.
    pub fn same(&mut self, what: &'static str, kafka: String, ours: String) {
        if kafka != ours {
            self.differ(what, kafka, ours, None);
        }
    }

    /// A point that differs.
    pub fn differ(
        &mut self,
        what: &'static str,
        kafka: String,
        ours: String,
        class: Option<Class>,
    ) {
        self.0.push(Point {
            what,
            kafka,
            ours,
            class,
        });
    }
}
