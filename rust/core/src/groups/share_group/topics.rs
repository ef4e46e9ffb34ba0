//! The topics of the cluster, as far as share groups ask for them (Kafka: `CoordinatorMetadataImage`).

use core::fmt;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::ids::TopicId;

/// The most partitions that a topic may have here. Kafka sets no bound, but a number that cannot be true must not fill
/// the memory.
pub const MAX_TOPIC_PARTITIONS: i32 = 1_000_000;

/// A topic of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: Arc<str>,
    /// Its id.
    pub id: TopicId,
    /// Number of partitions.
    pub partitions: i32,
}

/// Reason for which a view of the topics cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopicsError {
    /// The zero id, which stands for no topic.
    ZeroId {
        /// Name of the topic.
        name: Arc<str>,
    },
    /// Two topics have one name or one id.
    Repeated {
        /// Name of the second.
        name: Arc<str>,
    },
    /// A number of partitions outside 0 to [`MAX_TOPIC_PARTITIONS`].
    Partitions {
        /// Name of the topic.
        name: Arc<str>,
        /// The number.
        partitions: i32,
    },
}

impl fmt::Display for TopicsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroId { name } => write!(f, "topic {name:?} has the zero id"),
            Self::Repeated { name } => {
                write!(f, "topic {name:?} has the name or the id of another one")
            }
            Self::Partitions { name, partitions } => write!(
                f,
                "topic {name:?} has {partitions} partitions, which is not between 0 and {MAX_TOPIC_PARTITIONS}"
            ),
        }
    }
}

impl core::error::Error for TopicsError {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub id: TopicId,
    pub partitions: i32,
    hash: u64,
}

/// Every topic, by name and by id.
#[derive(Clone, Debug, Default)]
pub(super) struct Topics {
    by_name: BTreeMap<Arc<str>, Known>,
    names: HashMap<TopicId, Arc<str>>,
}

impl Topics {
    pub fn new(topics: Vec<Topic>) -> Result<Self, TopicsError> {
        let mut all = Self::default();
        for topic in topics {
            let Topic {
                name,
                id,
                partitions,
            } = topic;
            if id == TopicId::ZERO {
                return Err(TopicsError::ZeroId { name });
            }
            if !(0..=MAX_TOPIC_PARTITIONS).contains(&partitions) {
                return Err(TopicsError::Partitions { name, partitions });
            }
            let hash = hash(&name, id, partitions);
            let known = Known {
                id,
                partitions,
                hash,
            };
            let same_name = all.by_name.insert(Arc::clone(&name), known).is_some();
            let same_id = all.names.insert(id, Arc::clone(&name)).is_some();
            if same_name || same_id {
                return Err(TopicsError::Repeated { name });
            }
        }
        Ok(all)
    }

    pub fn by_name(&self, name: &str) -> Option<&Known> {
        self.by_name.get(name)
    }

    /// A topic by its id, with its name.
    pub fn by_id(&self, id: TopicId) -> Option<(&Arc<str>, &Known)> {
        let name = self.names.get(&id)?;
        Some((name, self.by_name.get(name)?))
    }

    /// A hash of these topics' metadata; names in ascending order. It changes with a topic's id or number of partitions
    /// and with its coming and going, and is 0 when none of them exists. Kafka's is another one, but only the change
    /// counts.
    pub fn metadata_hash<'a>(&self, names: impl Iterator<Item = &'a str>) -> i64 {
        let known = names.filter_map(|name| self.by_name.get(name));
        let mixed = known.fold(0, |sum, topic| mix(sum, topic.hash));
        mixed.cast_signed()
    }
}

/// FNV-1a, 64 bits: the hash is stored, so it must not differ between two runs.
fn hash(name: &str, id: TopicId, partitions: i32) -> u64 {
    let length = (name.len() as u64).to_be_bytes();
    let count = partitions.to_be_bytes();
    let bytes = length
        .iter()
        .chain(name.as_bytes())
        .chain(&id.0)
        .chain(&count);
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Adds a hash so that the order counts.
const fn mix(sum: u64, hash: u64) -> u64 {
    (sum.rotate_left(23) ^ hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
