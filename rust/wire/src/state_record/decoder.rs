//! Record after record of one log, and only what is new is allocated: a share partition's key once, and the list of
//! state batches only when it has to grow. A log repeats its keys millions of times.

use std::collections::HashMap;
use std::sync::Arc;

use share_state_core::ids::{QuickHash, SharePartitionKey};
use share_state_core::records::ShareValue;

use super::{is_known, key, read_value};
use crate::cursor::Reader;
use crate::error::WireError;

/// See the module.
#[derive(Clone, Debug)]
pub struct RecordDecoder {
    /// The number of each key by its bytes after the record type.
    numbers: HashMap<Box<[u8]>, usize, QuickHash>,
    keys: Vec<SharePartitionKey>,
    /// Numbers of forgotten keys.
    free: Vec<usize>,
    value: ShareValue,
}

impl Default for RecordDecoder {
    fn default() -> Self {
        Self {
            numbers: HashMap::default(),
            keys: Vec::new(),
            free: Vec::new(),
            value: ShareValue::Tombstone,
        }
    }
}

/// A decoded record, like [`super::Decoded`], until the next one is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen<'a> {
    /// A record of a share partition.
    Record {
        /// The share partition's number: they are counted from 0 in the order in which the decoder met them, and those of
        /// forgotten ones come again.
        number: usize,
        /// The share partition.
        key: &'a SharePartitionKey,
        /// Value of the record.
        value: &'a ShareValue,
    },
    /// A record of a type that this release does not know, left unread.
    UnknownType(i16),
}

impl RecordDecoder {
    /// Reads one record, as [`super::decode`] does.
    ///
    /// # Errors
    /// As for [`super::decode`].
    pub fn decode(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<Seen<'_>, WireError> {
        let mut r = Reader::new(key);
        let record_type = r.i16()?;
        if !is_known(record_type) {
            return Ok(Seen::UnknownType(record_type));
        }
        let number = match self.numbers.get(r.rest()) {
            Some(number) => *number,
            None => self.add(r)?,
        };
        read_value(record_type, value, &mut self.value)?;
        // A number is the index of its key.
        let key = self.keys.get(number).ok_or(r.error(key::EMPTY_GROUP))?;
        Ok(Seen::Record {
            number,
            key,
            value: &self.value,
        })
    }

    /// Forgets a key, of which no record is expected for now: the next one to be met may get its number.
    pub fn forget(&mut self, number: usize) {
        let bytes = self
            .keys
            .get(number)
            .and_then(|key| key::encode(super::SHARE_SNAPSHOT, key).ok());
        let name = bytes.as_deref().and_then(|bytes| bytes.get(2..));
        if name.and_then(|name| self.numbers.remove(name)).is_some() {
            self.free.push(number);
        }
    }

    fn add(&mut self, r: Reader<'_>) -> Result<usize, WireError> {
        let mut key = key::read(r)?;
        // The keys of a group mostly stand together, and then its name is kept once.
        if let Some(latest) = self.keys.last().filter(|latest| latest.group == key.group) {
            key.group = Arc::clone(&latest.group);
        }
        let number = match self.free.pop() {
            Some(number) => number,
            None => self.keys.len(),
        };
        match self.keys.get_mut(number) {
            Some(forgotten) => *forgotten = key,
            None => self.keys.push(key),
        }
        self.numbers.insert(r.rest().into(), number);
        Ok(number)
    }
}
