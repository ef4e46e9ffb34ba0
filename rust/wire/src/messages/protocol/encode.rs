//! Writes a message by its table.

use super::error::FieldError;
use super::format::Format;
use super::schema::{Absent, Field, Fields, Kind};
use super::value::Value;
use crate::error::{WireError, WireErrorKind};
use crate::varint::write_unsigned;
use share_state_core::ids::TopicId;

/// Writes a struct: its fields in order, then, in a flexible version, the tagged fields that are given. What the version
/// does not have is left out; a value that is not given is what the table says.
pub(super) fn write_fields<S: AsRef<str>, B: AsRef<[u8]>>(
    out: &mut Vec<u8>,
    fields: Fields,
    values: &[Option<Value<S, B>>],
    format: Format,
) -> Result<(), FieldError> {
    let given = |at: usize| values.get(at).and_then(Option::as_ref);
    let present = || {
        let all = fields.iter().enumerate();
        all.filter(|(_, field)| field.is_in(format.version))
    };
    for (at, field) in present().filter(|(_, field)| field.tag.is_none()) {
        let written = match given(at) {
            Some(value) => write_value(out, field, value, format),
            None => write_absent::<S, B>(out, field, format),
        };
        written.map_err(|error| error.within(field))?;
    }
    if !format.flexible {
        return Ok(());
    }
    let tagged = || present().filter_map(|(at, field)| Some((field, field.tag?, given(at)?)));
    write_unsigned(out, tagged().count() as u32);
    for (field, tag, value) in tagged() {
        let mut section = Vec::with_capacity(value.room());
        write_value(&mut section, field, value, format).map_err(|error| error.within(field))?;
        write_unsigned(out, tag);
        format.write_size(out, section.len())?;
        out.extend_from_slice(&section);
    }
    Ok(())
}

fn write_value<S: AsRef<str>, B: AsRef<[u8]>>(
    out: &mut Vec<u8>,
    field: &Field,
    value: &Value<S, B>,
    format: Format,
) -> Result<(), FieldError> {
    match (field.kind, value) {
        (_, Value::Null) => write_null(out, field, format)?,
        (Kind::Bool, Value::Bool(value)) => out.push(u8::from(*value)),
        (kind, Value::Int(value)) => write_int(out, kind, *value)?,
        (Kind::Uuid, Value::Uuid(id)) => out.extend_from_slice(&id.0),
        (Kind::String, Value::Text(text)) => format.write_string(out, Some(text.as_ref()))?,
        (Kind::Bytes | Kind::Int8s, Value::Bytes(bytes)) => {
            format.write_len(out, Some(bytes.as_ref().len()))?;
            out.extend_from_slice(bytes.as_ref());
        }
        (Kind::Int32s, Value::Array(items)) => {
            format.write_len(out, Some(items.len()))?;
            for item in items {
                let Value::Int(value) = item else {
                    return Err(wrong_type().into());
                };
                write_int(out, Kind::Int32, *value)?;
            }
        }
        (Kind::Strings, Value::Array(items)) => {
            format.write_len(out, Some(items.len()))?;
            for item in items {
                let Value::Text(text) = item else {
                    return Err(wrong_type().into());
                };
                format.write_string(out, Some(text.as_ref()))?;
            }
        }
        (Kind::Struct(fields), Value::Struct(values)) => {
            if field.is_nullable(format.version) {
                out.push(1);
            }
            write_fields(out, fields, values, format)?;
        }
        (Kind::Structs(fields), Value::Array(items)) => {
            format.write_len(out, Some(items.len()))?;
            for item in items {
                let Value::Struct(values) = item else {
                    return Err(wrong_type().into());
                };
                write_fields(out, fields, values, format)?;
            }
        }
        _ => return Err(wrong_type().into()),
    }
    Ok(())
}

fn write_absent<S: AsRef<str>, B: AsRef<[u8]>>(
    out: &mut Vec<u8>,
    field: &Field,
    format: Format,
) -> Result<(), FieldError> {
    let value: Value<S, B> = match (field.absent(), field.kind) {
        (Absent::Refused, _) => return Err(WireError::unwritable(WireErrorKind::Missing).into()),
        (Absent::Null, _) => Value::Null,
        (Absent::Int(value), _) => Value::Int(value),
        (Absent::True, _) => Value::Bool(true),
        (Absent::Zero, Kind::Bool) => Value::Bool(false),
        (Absent::Zero, Kind::Uuid) => Value::Uuid(TopicId([0; 16])),
        (Absent::Zero, Kind::String) => return Ok(format.write_string(out, Some(""))?),
        (Absent::Zero, Kind::Bytes | Kind::Int8s) => return Ok(format.write_len(out, Some(0))?),
        (Absent::Zero, Kind::Int32s | Kind::Strings | Kind::Structs(_)) => Value::Array(Vec::new()),
        (Absent::Zero, Kind::Struct(_)) => Value::Struct(Vec::new()),
        (Absent::Zero, _) => Value::Int(0),
    };
    write_value(out, field, &value, format)
}

fn write_null(out: &mut Vec<u8>, field: &Field, format: Format) -> Result<(), WireError> {
    if !field.is_nullable(format.version) {
        return Err(WireError::unwritable(WireErrorKind::Null));
    }
    match field.kind {
        Kind::String => format.write_string(out, None),
        Kind::Struct(_) => {
            out.push(u8::MAX);
            Ok(())
        }
        _ => format.write_len(out, None),
    }
}

fn write_int(out: &mut Vec<u8>, kind: Kind, value: i64) -> Result<(), WireError> {
    macro_rules! narrowed {
        ($int:ident) => {{
            let narrow = $int::try_from(value).map_err(|_| out_of_range(value, $int::BITS))?;
            out.extend_from_slice(&narrow.to_be_bytes());
        }};
    }
    match kind {
        Kind::Int8 => narrowed!(i8),
        Kind::Int16 => narrowed!(i16),
        Kind::Int32 => narrowed!(i32),
        Kind::Int64 => out.extend_from_slice(&value.to_be_bytes()),
        _ => return Err(wrong_type()),
    }
    Ok(())
}

const fn out_of_range(value: i64, bits: u32) -> WireError {
    WireError::unwritable(WireErrorKind::Range { value, bits })
}

const fn wrong_type() -> WireError {
    WireError::unwritable(WireErrorKind::WrongType)
}
