//! Sees to it that a machine is given the records of whole state partitions in the order of their offsets.

use std::collections::HashSet;

use share_state_core::history::{AsOf, At};

use crate::input::Input;
use crate::row_error::Reason;

/// A row whose place is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed<'a> {
    /// State partition.
    pub partition: u32,
    /// Offset and time.
    pub at: At,
    /// Key.
    pub key: &'a [u8],
    /// Value; `None` is a tombstone.
    pub value: Option<&'a [u8]>,
}

/// Checks the places of rows.
#[derive(Clone, Debug)]
pub struct Reader {
    topic: String,
    as_of: AsOf,
    current: Option<Current>,
    /// State partitions whose rows are over.
    finished: HashSet<u32>,
}

/// The state partition whose rows are being read.
#[derive(Clone, Copy, Debug)]
struct Current {
    partition: u32,
    /// Highest offset so far.
    offset: i64,
    /// Set once a record after what is looked at has been read.
    is_over: bool,
}

/// A row that can be used.
#[derive(Clone, Copy, Debug)]
pub struct Next<'a> {
    current: Current,
    /// The row; `None` if it lies after what is looked at.
    pub placed: Option<Placed<'a>>,
}

impl Reader {
    /// A reader of rows of `topic`; what lies after `as_of` is not looked at.
    #[must_use]
    pub fn new(topic: String, as_of: AsOf) -> Self {
        Self {
            topic,
            as_of,
            current: None,
            finished: HashSet::new(),
        }
    }

    /// The state partition of the last row that could be used.
    #[must_use]
    pub fn partition(&self) -> Option<u32> {
        self.current.map(|current| current.partition)
    }

    /// Checks the next row; nothing changes until [`Self::go_on`] goes on to it.
    ///
    /// # Errors
    /// The row cannot be used; the next one may be.
    pub fn check<'a>(&self, input: &Input<'a>) -> Result<Next<'a>, Reason> {
        let (partition, at) = self.place(input)?;
        let is_over = self.is_over(partition, at)?;
        let placed = if is_over {
            None
        } else {
            Some(Placed {
                partition,
                at,
                key: input.key.ok_or(Reason::Missing { column: "key" })?,
                value: input.value,
            })
        };
        Ok(Next {
            current: Current {
                partition,
                offset: at.offset,
                is_over,
            },
            placed,
        })
    }

    /// Goes on to a row that was checked; returns the state partition whose rows are over by that.
    pub fn go_on(&mut self, next: &Next<'_>) -> Option<u32> {
        let before = self.partition();
        self.current = Some(next.current);
        let over = before.filter(|before| *before != next.current.partition);
        self.finished.extend(over);
        over
    }

    /// The place, as far as it does not depend on other rows.
    fn place(&self, input: &Input<'_>) -> Result<(u32, At), Reason> {
        if let Some(topic) = input.topic.filter(|topic| *topic != self.topic) {
            let topic = topic.to_owned();
            return Err(Reason::OtherTopic { topic });
        }
        let missing = |column| Reason::Missing { column };
        let partition = input.partition.ok_or_else(|| missing("partition"))?;
        let offset = input.offset.ok_or_else(|| missing("offset"))?;
        let timestamp = input.timestamp.ok_or_else(|| missing("timestamp"))?;
        let partition =
            u32::try_from(partition).map_err(|_| Reason::NegativePartition { partition })?;
        if offset < 0 {
            return Err(Reason::NegativeOffset { offset });
        }
        Ok((partition, At { offset, timestamp }))
    }

    /// Returns `true` if a place lies after what is looked at.
    fn is_over(&self, partition: u32, at: At) -> Result<bool, Reason> {
        let was_over = match self.current {
            Some(current) if current.partition == partition => {
                let previous = current.offset;
                if at.offset == previous {
                    return Err(Reason::Repeated);
                }
                if at.offset < previous {
                    return Err(Reason::Unordered { previous });
                }
                current.is_over
            }
            _ if self.finished.contains(&partition) => return Err(Reason::PartitionAgain),
            _ => false,
        };
        Ok(was_over || !self.as_of.of(partition).reaches(at))
    }
}
