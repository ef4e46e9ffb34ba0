//! Types of the fields of a flexible message (read, measured and written), and the macro by which a struct is declared.

use std::borrow::Cow;

use share_state_core::ids::TopicId;
use share_state_core::state_batch::StateBatch;

use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::primitives::{
    array_len_size, read_array, read_compact_len, read_nullable_string, read_string, read_text,
    read_topic_id, string_size, write_array_len, write_string,
};
use crate::state_batch::{SIZE, read_state_batch, read_state_batches, write_elements};

/// A type that can stand in a message; texts and bytes may borrow from what is read, for `'a`. The module is private, so nobody
/// outside can add one.
pub trait Field<'a>: Sized {
    /// The least bytes that a value takes in any version; bounds the count of an array of them.
    const MIN_SIZE: usize;
    /// Reads a value.
    fn read(r: &mut Reader<'a>, version: i16) -> Result<Self, WireError>;
    /// Bytes of the value. Everything that cannot be written is refused here, so that `write` cannot fail.
    fn size(&self, version: i16) -> Result<usize, WireError>;
    /// Writes the value.
    fn write(&self, out: &mut Vec<u8>, version: i16);
    /// Bytes of the elements of an array.
    fn size_all(elements: &[Self], version: i16) -> Result<usize, WireError> {
        let mut size = 0;
        for element in elements {
            size += element.size(version)?;
        }
        Ok(size)
    }
    /// Writes the elements of an array.
    fn write_all(elements: &[Self], out: &mut Vec<u8>, version: i16) {
        for element in elements {
            element.write(out, version);
        }
    }
    /// Reads an array.
    fn read_all(r: &mut Reader<'a>, version: i16) -> Result<Vec<Self>, WireError> {
        read_array(r, Self::MIN_SIZE, |r| Self::read(r, version))
    }
}

macro_rules! integers {
    ($($int:ident),*) => {$(
        impl Field<'_> for $int {
            const MIN_SIZE: usize = size_of::<$int>();
            fn read(r: &mut Reader<'_>, _version: i16) -> Result<Self, WireError> {
                r.$int()
            }
            fn size(&self, _version: i16) -> Result<usize, WireError> {
                Ok(Self::MIN_SIZE)
            }
            fn write(&self, out: &mut Vec<u8>, _version: i16) {
                out.extend_from_slice(&self.to_be_bytes());
            }
        }
    )*};
}

integers!(i8, i16, i32, i64);

impl Field<'_> for TopicId {
    const MIN_SIZE: usize = 16;
    fn read(r: &mut Reader<'_>, _version: i16) -> Result<Self, WireError> {
        read_topic_id(r)
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        Ok(Self::MIN_SIZE)
    }
    fn write(&self, out: &mut Vec<u8>, _version: i16) {
        out.extend_from_slice(&self.0);
    }
}

impl Field<'_> for String {
    const MIN_SIZE: usize = 1;
    fn read(r: &mut Reader<'_>, _version: i16) -> Result<Self, WireError> {
        read_string(r).map(str::to_owned)
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        string_size(Some(self))
    }
    fn write(&self, out: &mut Vec<u8>, _version: i16) {
        write_string(out, Some(self));
    }
}

impl Field<'_> for Option<String> {
    const MIN_SIZE: usize = 1;
    fn read(r: &mut Reader<'_>, _version: i16) -> Result<Self, WireError> {
        Ok(read_nullable_string(r)?.map(str::to_owned))
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        string_size(self.as_deref())
    }
    fn write(&self, out: &mut Vec<u8>, _version: i16) {
        write_string(out, self.as_deref());
    }
}

/// Any byte but 0 is true, as in Kafka.
impl Field<'_> for bool {
    const MIN_SIZE: usize = 1;
    fn read(r: &mut Reader<'_>, _version: i16) -> Result<Self, WireError> {
        Ok(r.i8()? != 0)
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        Ok(Self::MIN_SIZE)
    }
    fn write(&self, out: &mut Vec<u8>, _version: i16) {
        out.push(u8::from(*self));
    }
}

/// A string as Java reads it, copied only where it is not UTF-8.
impl<'a> Field<'a> for Option<Cow<'a, str>> {
    const MIN_SIZE: usize = 1;
    fn read(r: &mut Reader<'a>, _version: i16) -> Result<Self, WireError> {
        let length = read_compact_len(r)?;
        length.map(|length| read_text(r, length)).transpose()
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        string_size(self.as_deref())
    }
    fn write(&self, out: &mut Vec<u8>, _version: i16) {
        write_string(out, self.as_deref());
    }
}

/// A string as Java reads it, which may not be null.
impl<'a> Field<'a> for Cow<'a, str> {
    const MIN_SIZE: usize = 1;
    fn read(r: &mut Reader<'a>, version: i16) -> Result<Self, WireError> {
        let start = *r;
        Option::read(r, version)?.ok_or(start.error(WireErrorKind::Null))
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        string_size(Some(self))
    }
    fn write(&self, out: &mut Vec<u8>, _version: i16) {
        write_string(out, Some(self));
    }
}

/// Bytes, or an array of `int8`, where they are.
impl<'a> Field<'a> for &'a [u8] {
    const MIN_SIZE: usize = 1;
    fn read(r: &mut Reader<'a>, _version: i16) -> Result<Self, WireError> {
        let start = *r;
        let length = read_compact_len(r)?;
        match length {
            Some(length) => r.take(length),
            None => Err(start.error(WireErrorKind::Null)),
        }
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        Ok(array_len_size(self.len())? + self.len())
    }
    fn write(&self, out: &mut Vec<u8>, _version: i16) {
        write_array_len(out, self.len());
        out.extend_from_slice(self);
    }
}

impl Field<'_> for StateBatch {
    const MIN_SIZE: usize = SIZE;
    fn read(r: &mut Reader<'_>, _version: i16) -> Result<Self, WireError> {
        read_state_batch(r)
    }
    fn size(&self, _version: i16) -> Result<usize, WireError> {
        Ok(SIZE)
    }
    fn write(&self, out: &mut Vec<u8>, version: i16) {
        Self::write_all(core::slice::from_ref(self), out, version);
    }
    // The one element that comes in thousands.
    fn size_all(elements: &[Self], _version: i16) -> Result<usize, WireError> {
        Ok(SIZE * elements.len())
    }
    fn write_all(elements: &[Self], out: &mut Vec<u8>, _version: i16) {
        write_elements(out, elements);
    }
    fn read_all(r: &mut Reader<'_>, _version: i16) -> Result<Vec<Self>, WireError> {
        read_state_batches(r)
    }
}

impl<'a, T: Field<'a>> Field<'a> for Vec<T> {
    const MIN_SIZE: usize = 1;
    fn read(r: &mut Reader<'a>, version: i16) -> Result<Self, WireError> {
        T::read_all(r, version)
    }
    fn size(&self, version: i16) -> Result<usize, WireError> {
        Ok(array_len_size(self.len())? + T::size_all(self, version)?)
    }
    fn write(&self, out: &mut Vec<u8>, version: i16) {
        write_array_len(out, self.len());
        T::write_all(self, out, version);
    }
}

/// Declares a struct of a message, fields in wire order, and how it is read and written. `since 1 else -1` after a
/// field: older versions lack it and it reads as -1; it is dropped when one is written. No struct here has a tagged
/// field of its own, so the section at its end is skipped in reading and written empty. A struct has a lifetime where it
/// borrows from what is read.
macro_rules! message_struct {
    ($(#[$doc:meta])* $name:ident $(<$param:ident>)? $(<$life:lifetime>)? {
        $($(#[$field_doc:meta])* $field:ident: $type:ty $([since $since:literal else $default:literal])?,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name $(<$param>)? $(<$life>)? {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        message_struct! { @impl $name $(<$param>)? $(<$life>)? {
            const MIN_SIZE: usize = 1 $(+ message_struct!(@min $type $(, $since)?))*;
            fn read(r: &mut Reader<'read>, version: i16) -> Result<Self, WireError> {
                let value = Self {
                    $($field: message_struct!(@read r, version, $type $(, $since, $default)?),)*
                };
                skip_tags(r)?;
                Ok(value)
            }
            fn size(&self, version: i16) -> Result<usize, WireError> {
                Ok(1 $(+ message_struct!(@if version $(, $since)?; self.$field.size(version)?; 0))*)
            }
            fn write(&self, out: &mut Vec<u8>, version: i16) {
                $(message_struct!(@if version $(, $since)?; self.$field.write(out, version); ());)*
                out.push(0);
            }
        }}
    };
    (@impl $name:ident $(<$param:ident>)? { $($body:tt)* }) => {
        impl<'read $(, $param: Field<'read>)?> Field<'read> for $name $(<$param>)? { $($body)* }
    };
    (@impl $name:ident <$life:lifetime> { $($body:tt)* }) => {
        impl<'read> Field<'read> for $name<'read> { $($body)* }
    };
    (@min $type:ty) => { <$type as Field>::MIN_SIZE };
    (@min $type:ty, $since:literal) => { 0 };
    (@read $r:ident, $version:ident, $type:ty) => { Field::read($r, $version)? };
    (@read $r:ident, $version:ident, $type:ty, $since:literal, $default:literal) => {
        if $version >= $since { Field::read($r, $version)? } else { $default }
    };
    (@if $version:ident; $then:expr; $else:expr) => { $then };
    (@if $version:ident, $since:literal; $then:expr; $else:expr) => {
        if $version >= $since { $then } else { $else }
    };
}

pub(super) use message_struct;
