//! Which field of a line cannot be read.

use core::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

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

/// The fields of a line in their order, those that are given twice too.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// The first field that cannot be read, and why; `None` where the line as a whole is no JSON object.
pub fn wrong_field(text: &[u8], error: &serde_json::Error) -> (Option<&'static str>, String) {
    let Ok(Fields(fields)) = serde_json::from_slice(text) else {
        return (None, "not a JSON object".into());
    };
    let mut seen = Vec::new();
    for (field, value) in fields {
        let mut known = TEXTS.iter().chain(&FIGURES).chain(&OTHERS);
        let Some(&field) = known.find(|known| **known == field) else {
            continue;
        };
        if seen.contains(&field) {
            return (Some(field), "given twice".into());
        }
        seen.push(field);
        if let Some(expected) = expected(field, &value) {
            // A list may be long.
            let found = if value.is_array() {
                "[...]".to_owned()
            } else {
                value.to_string()
            };
            return (Some(field), format!("{found}; expected {expected}"));
        }
    }
    (None, error.to_string())
}

/// What a field should be, if it is something else.
fn expected(field: &str, value: &Value) -> Option<&'static str> {
    let (fits, expected) = match field {
        _ if value.is_null() => return None,
        "partition" => (
            value.as_i64().is_some_and(|n| i32::try_from(n).is_ok()),
            "a whole number of 32 bits",
        ),
        "ranges" => (
            Ranges::deserialize(value).is_ok(),
            "a list of [first, last, type], three whole numbers each",
        ),
        text if TEXTS.contains(&text) => (value.is_string(), "a string"),
        _ => (value.is_i64(), "a whole number of 64 bits"),
    };
    (!fits).then_some(expected)
}
