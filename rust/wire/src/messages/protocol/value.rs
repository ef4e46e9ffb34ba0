//! The values of a message, in the shape of its table.

use std::borrow::Cow;

use share_state_core::ids::TopicId;

/// A value of a message. Texts and bytes borrow from the input when one is read, and are whatever the caller has when one
/// is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<S, B> {
    /// Null.
    Null,
    /// A bool.
    Bool(bool),
    /// An integer of any width; the table knows which, and what does not fit is not written.
    Int(i64),
    /// A UUID; in all these messages it is the id of a topic, or of a log directory.
    Uuid(TopicId),
    /// A string.
    Text(S),
    /// Bytes, records, or an array of `int8`.
    Bytes(B),
    /// An array.
    Array(Vec<Self>),
    /// A struct: one entry for each field of its table, in the same order. `None`: the version does not have the field, or
    /// it is not given.
    Struct(Vec<Option<Self>>),
}

/// A value that was read; a text is copied only where it was not UTF-8.
pub type Borrowed<'a> = Value<Cow<'a, str>, &'a [u8]>;

impl<S: AsRef<str>, B: AsRef<[u8]>> Value<S, B> {
    /// About as many bytes as the value takes: enough in most cases, so that a message is written without moving.
    pub(super) fn room(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) => 1,
            Self::Int(_) => 8,
            Self::Uuid(_) => 16,
            Self::Text(text) => 2 + text.as_ref().len(),
            Self::Bytes(bytes) => 5 + bytes.as_ref().len(),
            Self::Array(items) => 5 + items.iter().map(Self::room).sum::<usize>(),
            Self::Struct(fields) => 1 + fields.iter().flatten().map(Self::room).sum::<usize>(),
        }
    }

    pub(super) const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}
