//! The mark of a store: a number that it writes into each batch, so that the log of another store in the place of its own is
//! told, be it as long and whole.
//!
//! It stands in the base sequence of the batch. That field belongs to a producer, which no batch here has, so Kafka's tools read
//! it and heed it as little as in the logs of a broker, where it is 0; and the checksum covers it. The meta file says the mark.
//!
//! A store that is older than marks has batches without one. It is given a mark when it is next opened for writing, and the meta
//! file then says of each log from which offset on there is one in every batch.

use crate::corrupt::CorruptKind;

/// Value of a batch that has no mark.
pub(crate) const UNMARKED: i32 = 0;

/// The marks of a store's logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Above 0.
    pub number: i32,
    /// Offset by state partition: batches from it on are marked.
    pub since: Vec<i64>,
}

/// The mark of one log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    number: i32,
    since: i64,
}

impl Marks {
    /// Mark of a partition's log; `None` if the meta file says nothing of it.
    pub fn of(marks: Option<&Self>, partition: u32) -> Option<Mark> {
        let marks = marks?;
        let since = *marks.since.get(partition as usize)?;
        let number = marks.number;
        Some(Mark { number, since })
    }

    /// The two lines of the meta file.
    pub fn lines(&self) -> String {
        let since: Vec<String> = self.since.iter().map(i64::to_string).collect();
        format!(
            "mark={:08x}\nmarked-since={}\n",
            self.number,
            since.join(" ")
        )
    }

    /// Reads the values of the two lines; `None` if they are none.
    pub fn read(number: &str, since: &str, partitions: u32) -> Option<Self> {
        let marks = Self {
            number: i32::from_str_radix(number, 16).ok()?,
            since: since
                .split(' ')
                .map(|text| text.parse().ok())
                .collect::<Option<_>>()?,
        };
        let is_sound = marks.number > 0 && u32::try_from(marks.since.len()) == Ok(partitions);
        is_sound.then_some(marks)
    }
}

impl Mark {
    /// Checks that a batch is one of this store's.
    pub fn check(self, base_offset: i64, found: i32) -> Result<(), CorruptKind> {
        if found == self.number || (found == UNMARKED && base_offset < self.since) {
            return Ok(());
        }
        Err(CorruptKind::OtherStore {
            found,
            mark: self.number,
        })
    }
}
