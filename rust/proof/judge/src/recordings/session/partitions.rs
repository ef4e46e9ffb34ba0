//! Partitions as the recordings name them: by topic id and name, or by name alone.

use serde_json::{Value, json};
use share_state_core::ids::TopicId;
use share_state_core::share_session::TopicIdPartition;

use super::super::fields::{Unknown, list, number, text};

/// The topics that a recording has named so far: the id of each, and its name, if it is known.
#[derive(Clone, Debug, Default)]
pub struct Partitions(Vec<(TopicId, Option<String>)>);

impl Partitions {
    /// Partitions that the arguments of these operations name by topic id and name.
    ///
    /// # Errors
    /// The arguments are no list.
    pub fn named_in(ops: &[Value]) -> Result<Self, Unknown> {
        let mut partitions = Self::default();
        for op in ops {
            for argument in list(&op["args"])? {
                partitions.take_in(argument);
            }
        }
        Ok(partitions)
    }

    fn take_in(&mut self, argument: &Value) {
        match argument {
            Value::Array(list) => list.iter().for_each(|item| self.take_in(item)),
            Value::String(text) if identified(text).is_some() => {
                // Only what this finds out counts here.
                let _ = self.read(argument);
            }
            _ => {}
        }
    }

    /// Reads `topicId:name-partition`, or `[name, partition]` where the recording has no topic ids.
    ///
    /// # Errors
    /// It is neither.
    pub fn read(&mut self, partition: &Value) -> Result<TopicIdPartition, Unknown> {
        let (topic_id, name, number) = match partition {
            Value::Array(pair) if pair.len() == 2 => {
                let name = match &pair[0] {
                    Value::Null => None,
                    name => Some(text(name)?.to_owned()),
                };
                (self.id_of(name.as_deref()), name, number(&pair[1])?)
            }
            Value::String(text) => identified(text)
                .ok_or_else(|| Unknown(format!("{text} names no partition of a topic id")))?,
            other => return Err(Unknown(format!("{other} where a partition is expected"))),
        };
        match self.0.iter_mut().find(|(known, _)| *known == topic_id) {
            Some((_, known)) => *known = name,
            None => self.0.push((topic_id, name)),
        }
        Ok(TopicIdPartition {
            topic_id,
            partition: number,
        })
    }

    /// The id of a topic of which the recording tells the name only.
    fn id_of(&self, name: Option<&str>) -> TopicId {
        let known = self.0.iter().find(|(_, known)| known.as_deref() == name);
        known.map_or_else(
            || {
                let mut bytes = [0xff; 16];
                bytes[..8].copy_from_slice(&(self.0.len() as u64).to_be_bytes());
                TopicId(bytes)
            },
            |(id, _)| *id,
        )
    }

    /// `[name, partition]`.
    pub fn shown(&self, id: TopicIdPartition) -> Value {
        let topic = self.0.iter().find(|(known, _)| *known == id.topic_id);
        json!([topic.and_then(|(_, name)| name.as_ref()), id.partition])
    }
}

fn identified(text: &str) -> Option<(TopicId, Option<String>, i32)> {
    let (topic_id, rest) = text.split_once(':')?;
    let (name, number) = rest.rsplit_once('-')?;
    Some((
        TopicId::parse(topic_id)?,
        (name != "null").then(|| name.to_owned()),
        number.parse().ok()?,
    ))
}
