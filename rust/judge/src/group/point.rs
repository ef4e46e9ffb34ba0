//! What differs in one operation, and the deliberate differences of share groups.

use crate::deliberate::ByName;
use crate::sequences::Class;

/// A point in which the two sides differ.
#[derive(Clone, Debug)]
pub struct Point {
    /// What differs.
    pub what: &'static str,
    /// Kafka's side.
    pub kafka: String,
    /// Ours.
    pub ours: String,
    /// The deliberate difference that it is.
    pub class: Option<Class>,
}

/// A new group's epoch.
pub const G1_FIRST: Class = ("G1", "a group begins");
/// A member of a group that does not exist.
pub const G2: Class = ("G2", "a member of a lost group");
/// A member is told to be heard soon.
pub const G3: Class = ("G3", "an assignment is due that the interval holds back");
/// The state epoch is the one that the assignment will have.
pub const G4_EPOCH: Class = ("G4", "the state epoch after the assignment");
/// What is being initialised is initialised again.
pub const G4_AGAIN: Class = ("G4", "an initialisation whose answer is out");
/// The start of a topic that was never initialised.
pub const G4_START: Class = ("G4", "the start of a topic that is only being initialised");
/// Alter raises the group epoch.
pub const G5: Class = ("G5", "offsets are altered");
/// Alter raises the group epoch.
pub const G5_NOTHING: Class = ("G5", "no offset is altered");
/// Kafka lists the topic without a partition.
pub const G5_EMPTY: Class = ("G5", "offsets are altered of partitions that do not exist");
/// A group is deleted again, and a topic is gone meanwhile.
pub const G6: Class = ("G6", "a group is deleted whose deleted topics are gone");
/// Offsets of a group that has none.
pub const G7: Class = ("G7", "offsets are deleted of a group without any");
/// Too long a member id.
pub const G8: Class = ("G8", "a member id longer than a UUID");
/// Kafka's targets hold what cannot be assigned any more, and it lets them.
pub const G9: Class = ("G9", "a target with what cannot be assigned");

/// The deliberate differences that are recognised here: profile, id and what happens.
pub const RULES: &[ByName] = &[
    ("group", G1_FIRST.0, G1_FIRST.1),
    ("group", G2.0, G2.1),
    ("group", G3.0, G3.1),
    ("group", G4_EPOCH.0, G4_EPOCH.1),
    ("group", G4_AGAIN.0, G4_AGAIN.1),
    ("group", G4_START.0, G4_START.1),
    ("group", G5.0, G5.1),
    ("group", G5_NOTHING.0, G5_NOTHING.1),
    ("group", G5_EMPTY.0, G5_EMPTY.1),
    ("group", G6.0, G6.1),
    ("group", G7.0, G7.1),
    ("group", G8.0, G8.1),
    ("group", G9.0, G9.1),
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
