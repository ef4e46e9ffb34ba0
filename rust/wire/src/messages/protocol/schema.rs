//! Schema of a message: the words in which the tables say what Kafka's own message definitions say.
//!
//! A table reads top to bottom in wire order. What is said of a field besides its type and name:
//!
//! | word | meaning | Kafka's JSON |
//! |---|---|---|
//! | `since(v)`, `until(v)` | the versions that have it | `versions` |
//! | `nullable()`, `nullable_since(v)` | it may be null | `nullableVersions` |
//! | `tag(n)` | it stands in the tagged fields, and only when it is given | `tag`, `taggedVersions` |
//! | `or(n)`, `or_true()`, `or_null()`, `or_zero()` | what is written when a caller gives none; otherwise it must be given | `default` |

use core::ops::RangeInclusive;

/// An RPC: its key, its versions, and what its request and answer hold.
#[derive(Debug)]
pub struct Api {
    /// The API key.
    pub key: i16,
    /// Kafka's name for it, without `Request` or `Response`.
    pub name: &'static str,
    /// The versions that are known; request and answer have the same.
    pub versions: RangeInclusive<i16>,
    /// The first version with compact lengths and tagged fields; [`NEVER`] if there is none.
    pub flexible_since: i16,
    /// The fields of the request, in wire order.
    pub request: Fields,
    /// The fields of the answer, in wire order.
    pub response: Fields,
}

/// The fields of a message or of a struct within one, in wire order.
pub type Fields = &'static [Field];

/// A version that no message has.
pub const NEVER: i16 = i16::MAX;

/// Field of a message.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Kafka's name for it, in camelCase as in Kafka's JSON.
    pub name: &'static str,
    /// Type of the field.
    pub kind: Kind,
    /// Its number among the tagged fields, when it is one.
    pub tag: Option<u32>,
    since: i16,
    until: i16,
    nullable_since: i16,
    absent: Absent,
}

/// Type of a field.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `bool`.
    Bool,
    /// `int8`.
    Int8,
    /// `int16`.
    Int16,
    /// `int32`.
    Int32,
    /// `int64`.
    Int64,
    /// `uuid`.
    Uuid,
    /// `string`.
    String,
    /// `bytes` and `records`, which look the same on the wire.
    Bytes,
    /// `[]int8`, one byte an element, so it is kept as bytes.
    Int8s,
    /// `[]int32`.
    Int32s,
    /// `[]string`.
    Strings,
    /// A struct.
    Struct(Fields),
    /// An array of structs.
    Structs(Fields),
}

/// Value for a field that a caller does not give.
#[derive(Clone, Copy, Debug)]
pub(super) enum Absent {
    /// Nothing does: it must be given.
    Refused,
    Null,
    Int(i64),
    True,
    /// The zero of its type: 0, false, an empty text or array, zeros; a struct of what stands for its own fields.
    Zero,
}

macro_rules! kinds {
    ($($name:ident: $kind:ident;)*) => {$(
        pub(super) const fn $name(name: &'static str) -> Field {
            Field::new(name, Kind::$kind)
        }
    )*};
}

kinds! {
    boolean: Bool;
    int8: Int8;
    int16: Int16;
    int32: Int32;
    int64: Int64;
    uuid: Uuid;
    string: String;
    bytes: Bytes;
    int8s: Int8s;
    int32s: Int32s;
    strings: Strings;
}

pub(super) const fn structure(name: &'static str, fields: Fields) -> Field {
    Field::new(name, Kind::Struct(fields))
}

pub(super) const fn array(name: &'static str, fields: Fields) -> Field {
    Field::new(name, Kind::Structs(fields))
}

impl Field {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            tag: None,
            since: 0,
            until: NEVER,
            nullable_since: NEVER,
            absent: Absent::Refused,
        }
    }

    pub(super) const fn since(self, since: i16) -> Self {
        Self { since, ..self }
    }

    pub(super) const fn until(self, until: i16) -> Self {
        Self { until, ..self }
    }

    pub(super) const fn nullable(self) -> Self {
        self.nullable_since(0)
    }

    pub(super) const fn nullable_since(self, nullable_since: i16) -> Self {
        Self {
            nullable_since,
            ..self
        }
    }

    pub(super) const fn tag(self, tag: u32) -> Self {
        Self {
            tag: Some(tag),
            ..self
        }
    }

    pub(super) const fn or(self, default: i64) -> Self {
        self.or_absent(Absent::Int(default))
    }

    pub(super) const fn or_true(self) -> Self {
        self.or_absent(Absent::True)
    }

    pub(super) const fn or_null(self) -> Self {
        self.or_absent(Absent::Null)
    }

    pub(super) const fn or_zero(self) -> Self {
        self.or_absent(Absent::Zero)
    }

    const fn or_absent(self, absent: Absent) -> Self {
        Self { absent, ..self }
    }

    /// Returns `true` if a message of this version has the field, tagged or not.
    #[must_use]
    pub const fn is_in(&self, version: i16) -> bool {
        self.since <= version && version <= self.until
    }

    /// Returns `true` if the field may be null in this version.
    #[must_use]
    pub const fn is_nullable(&self, version: i16) -> bool {
        self.nullable_since <= version
    }

    /// Returns `true` if nothing stands for the field when a caller does not give it.
    #[must_use]
    pub const fn must_be_given(&self) -> bool {
        self.tag.is_none() && matches!(self.absent, Absent::Refused)
    }

    pub(super) const fn absent(&self) -> Absent {
        self.absent
    }
}
