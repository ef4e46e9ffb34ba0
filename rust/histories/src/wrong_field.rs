//! Name of the field of a line that cannot be read.

use core::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// First and last offset, and the type, of each range.
pub type Ranges = Vec<(i64, i64, i64)>;

const TEXTS: [&str; 5] = ["type", "group", "topic", "member", "outcome"];
const FIGURES: [&str; 10] = [
    "t",
    "sent",
    "first",
    "last",
    "delivery_count",
    "lock_ms",
    "start_offset",
    "leader_epoch",
    "state_epoch",
    "from",
];
const OTHERS: [&str; 2] = ["partition", "ranges"];

/// The known fields of a line in their order, as they are written; those that are given twice too.
struct Fields<'a>(Vec<(&'static str, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((field, value)) = map.next_entry::<String, &RawValue>()? {
                    let mut known = TEXTS.iter().chain(&FIGURES).chain(&OTHERS);
                    fields.extend(
                        known
                            .find(|known| **known == field)
                            .map(|name| (*name, value)),
                    );
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// The first field that cannot be read, and why; `None` where the line as a whole is no JSON object.
pub fn wrong_field(text: &str, error: &serde_json::Error) -> (Option<&'static str>, String) {
    let Ok(Fields(fields)) = serde_json::from_str(text) else {
        return (None, "not a JSON object".into());
    };
    let mut seen = Vec::new();
    for (field, value) in fields {
        if seen.contains(&field) {
            return (Some(field), "given twice".into());
        }
        seen.push(field);
        if let Some(expected) = expected(field, value.get()) {
            return (
                Some(field),
                format!("{}; expected {expected}", shortened(value.get())),
            );
        }
    }
    (None, error.to_string())
}

/// A value as it is shown: a list or a text may be long.
fn shortened(value: &str) -> String {
    const SHOWN: usize = 64;
    if value.starts_with('[') {
        "[...]".into()
    } else if value.chars().nth(SHOWN).is_some() {
        value.chars().take(SHOWN).chain("...".chars()).collect()
    } else {
        value.into()
    }
}

/// Description of the values that a field may have, if `value` is none of them. Values that JSON can say and nobody can hold
/// count as such.
fn expected(field: &str, value: &str) -> Option<&'static str> {
    fn fits<'a, T: Deserialize<'a>>(value: &'a str) -> bool {
        serde_json::from_str::<Option<T>>(value).is_ok()
    }
    let (fits, expected) = match field {
        "partition" => (fits::<i32>(value), "a whole number of 32 bits"),
        "ranges" => (
            fits::<Ranges>(value),
            "a list of [first, last, type], three whole numbers each",
        ),
        text if TEXTS.contains(&text) => (fits::<String>(value), "a string"),
        _ => (fits::<i64>(value), "a whole number of 64 bits"),
    };
    (!fits).then_some(expected)
}
