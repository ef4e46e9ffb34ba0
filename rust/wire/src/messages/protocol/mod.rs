//! Requests and answers by table: every RPC that a share gateway takes from its clients, and that it sends upstream.
//!
//! [`schema`] has the words of a table, [`apis`] the tables, which say what Kafka's own message definitions say. One reader
//! and one writer serve all of them, in every version. RPC 83 to 87 have types of their own ([`super`]): there a struct for
//! each message pays.

pub mod apis;
mod decode;
mod encode;
mod error;
mod format;
pub mod schema;
mod value;

pub use error::FieldError;
pub use value::{Borrowed, Value};

use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use format::Format;
use schema::{Api, Fields};

/// Direction of a message: the request of an RPC, or its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The request.
    Request,
    /// The answer.
    Response,
}

/// The RPC with this key, if there is a table of it.
#[must_use]
pub fn api(key: i16) -> Option<&'static Api> {
    let at = apis::APIS.binary_search_by_key(&key, |api| api.key).ok()?;
    apis::APIS.get(at).copied()
}

impl Api {
    /// The fields of the message, in wire order.
    #[must_use]
    pub const fn fields(&self, direction: Direction) -> Fields {
        match direction {
            Direction::Request => self.request,
            Direction::Response => self.response,
        }
    }

    /// Reads a message, without its header, that fills `buf`. Always a [`Value::Struct`].
    ///
    /// # Errors
    /// The version is unknown, or the bytes do not follow the format.
    pub fn decode<'a>(
        &self,
        direction: Direction,
        version: i16,
        buf: &'a [u8],
    ) -> Result<Borrowed<'a>, FieldError> {
        self.decode_within(direction, version, buf, usize::MAX, false)
    }

    /// Reads a message as [`Self::decode`] does. Its arrays have at most `elements` elements altogether. With `trailing` it
    /// skips what follows the message, as Kafka's own readers do: some clients and servers send more than the message.
    ///
    /// # Errors
    /// The version is unknown, the bytes do not follow the format, or there are more elements.
    pub fn decode_within<'a>(
        &self,
        direction: Direction,
        version: i16,
        buf: &'a [u8],
        elements: usize,
        trailing: bool,
    ) -> Result<Borrowed<'a>, FieldError> {
        let format = self.format(version)?;
        let mut r = Reader::new(buf).within(elements);
        let message = decode::read_fields(&mut r, self.fields(direction), format)?;
        if !trailing {
            r.finish()?;
        }
        Ok(message)
    }

    /// The bytes of a message, without its header. Fields that the version does not have are left out.
    ///
    /// # Errors
    /// The version is unknown, a required field is missing, or a value does not fit its field.
    pub fn encode<S: AsRef<str>, B: AsRef<[u8]>>(
        &self,
        direction: Direction,
        version: i16,
        message: &Value<S, B>,
    ) -> Result<Vec<u8>, FieldError> {
        let format = self.format(version)?;
        let Value::Struct(values) = message else {
            return Err(WireError::unwritable(WireErrorKind::WrongType).into());
        };
        let mut out = Vec::with_capacity(message.room());
        encode::write_fields(&mut out, self.fields(direction), values, format)?;
        Ok(out)
    }

    /// Refuses an unknown version.
    ///
    /// # Errors
    /// The version is unknown.
    pub fn check_version(&self, version: i16) -> Result<(), FieldError> {
        self.format(version)?;
        Ok(())
    }

    fn format(&self, version: i16) -> Result<Format, WireError> {
        if !self.versions.contains(&version) {
            let kind = WireErrorKind::UnsupportedVersion { version };
            return Err(WireError::new(0, kind));
        }
        Ok(Format {
            version,
            flexible: version >= self.flexible_since,
        })
    }
}

#[cfg(test)]
mod tests;
