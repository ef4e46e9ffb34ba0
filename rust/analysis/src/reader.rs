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
    /// Whether a record later than the time that is looked at has been read.
    over: bool,
}

impl Reader {
    /// A reader of rows of `topic`; what lies behind `as_of` is not looked at.
    #[must_use]
    pub fn new(topic: String, as_of: AsOf) -> Self {
        Self {
            topic,
            as_of,
            current: None,
            finished: HashSet::new(),
        }
    }

    /// The state partition of the last row whose place was good.
    #[must_use]
    pub fn partition(&self) -> Option<u32> {
        self.current.map(|current| current.partition)
    }

    /// Checks what does not depend on other rows.
    ///
    /// # Errors
    /// Another topic, or a place that is missing or negative. The key is not looked at.
    pub fn place<'a>(&self, input: &Input<'a>) -> Result<(u32, At), Reason> {
        if let Some(topic) = input.topic.filter(|topic| *topic != self.topic) {
            let topic = topic.to_owned();
            return Err(Reason::OtherTopic { topic });
        }
        let partition = input.partition.ok_or(Reason::Missing {
            column: "partition",
        })?;
        let offset = input.offset.ok_or(Reason::Missing { column: "offset" })?;
        let timestamp = input.timestamp.ok_or(Reason::Missing {
            column: "timestamp",
        })?;
        let partition =
            u32::try_from(partition).map_err(|_| Reason::NegativePartition { partition })?;
        if offset < 0 {
            return Err(Reason::NegativeOffset { offset });
        }
        Ok((partition, At { offset, timestamp }))
    }

    /// Reads the next row; `None` when it lies behind what is looked at.
    ///
    /// # Errors
    /// The row cannot be used; the next one may be.
    pub fn read<'a>(&mut self, input: &Input<'a>) -> Result<Option<Placed<'a>>, Reason> {
        let (partition, at) = self.place(input)?;
        if !self.advance(partition, at)? {
            return Ok(None);
        }
        Ok(Some(Placed {
            partition,
            at,
            key: input.key.ok_or(Reason::Missing { column: "key" })?,
            value: input.value,
        }))
    }

    /// Goes on to a place; `false` when it lies behind what is looked at.
    fn advance(&mut self, partition: u32, at: At) -> Result<bool, Reason> {
        let over = match self.current {
            Some(current) if current.partition == partition => {
                let previous = current.offset;
                if at.offset == previous {
                    return Err(Reason::Repeated);
                }
                if at.offset < previous {
                    return Err(Reason::Unordered { previous });
                }
                current.over
            }
            before => {
                if self.finished.contains(&partition) {
                    return Err(Reason::PartitionAgain);
                }
                self.finished
                    .extend(before.map(|current| current.partition));
                false
            }
        };
        let over = over || !self.as_of.reaches(partition, at);
        self.current = Some(Current {
            partition,
            offset: at.offset,
            over,
        });
        Ok(!over)
    }
}
