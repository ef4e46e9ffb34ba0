//! Findings of a check.

use crate::event::{Name, Span};

/// The promises of share groups that are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// A record that was accepted or rejected is never delivered again.
    H1,
    /// No two members hold a record at once.
    H2,
    /// After a drain no record has vanished.
    H3,
    /// The delivery count of a record rises by one a grant, up to the limit.
    H4,
    /// Start offset and epochs never go back, and the start offset passes no outstanding record.
    H5,
    /// An acknowledgement of unknown outcome happened once or not at all.
    H6,
    /// No lock ends before its deadline.
    H7,
    /// An available record is delivered within a bound.
    H8,
}

impl Check {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::H1,
        Self::H2,
        Self::H3,
        Self::H4,
        Self::H5,
        Self::H6,
        Self::H7,
        Self::H8,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::H1 => "H1",
            Self::H2 => "H2",
            Self::H3 => "H3",
            Self::H4 => "H4",
            Self::H5 => "H5",
            Self::H6 => "H6",
            Self::H7 => "H7",
            Self::H8 => "H8",
        }
    }
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The promise.
    pub check: Check,
    /// The group.
    pub group: Name,
    /// The topic.
    pub topic: Name,
    /// The partition.
    pub partition: i32,
    /// The records that it concerns; `None` where it is the share partition.
    pub span: Option<Span>,
    /// The broken promise, for people.
    pub text: &'static str,
    /// The fewest events that show it, by their position in the history.
    pub excerpt: Vec<u32>,
}
