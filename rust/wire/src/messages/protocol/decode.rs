//! Reads a message by its table.

use super::error::FieldError;
use super::format::Format;
use super::schema::{Field, Fields, Kind};
use super::value::{Borrowed, Value};
use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::primitives::{read_tags, read_topic_id};

/// The most elements reserved before the first is read: an element may be larger in memory than in bytes.
const MAX_RESERVE: usize = 1024;

/// Reads a struct: its fields in order, then, in a flexible version, its tagged fields. Unknown ones are skipped.
pub(super) fn read_fields<'a>(
    r: &mut Reader<'a>,
    fields: Fields,
    format: Format,
) -> Result<Borrowed<'a>, FieldError> {
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        values.push(if field.tag.is_none() && field.is_in(format.version) {
            Some(read_value(r, field, format).map_err(|error| error.within(field))?)
        } else {
            None
        });
    }
    if format.flexible {
        read_tags(r, |tag, mut section| {
            for (field, value) in fields.iter().zip(&mut values) {
                if field.tag == Some(tag) && field.is_in(format.version) {
                    *value = Some(
                        read_value(&mut section, field, format)
                            .and_then(|value| Ok(section.finish().map(|()| value)?))
                            .map_err(|error| error.within(field))?,
                    );
                }
            }
            Ok::<_, FieldError>(())
        })?;
    }
    Ok(Value::Struct(values))
}

fn read_value<'a>(
    r: &mut Reader<'a>,
    field: &Field,
    format: Format,
) -> Result<Borrowed<'a>, FieldError> {
    let start = *r;
    let value = match field.kind {
        // Any byte but 0 is true, as in Kafka.
        Kind::Bool => Value::Bool(r.i8()? != 0),
        Kind::Int8 => Value::Int(r.i8()?.into()),
        Kind::Int16 => Value::Int(r.i16()?.into()),
        Kind::Int32 => Value::Int(r.i32()?.into()),
        Kind::Int64 => Value::Int(r.i64()?),
        Kind::Uuid => Value::Uuid(read_topic_id(r)?),
        Kind::String => format.read_string(r)?.map_or(Value::Null, Value::Text),
        Kind::Bytes | Kind::Int8s => match format.read_len(r)? {
            Some(len) => Value::Bytes(r.take(len)?),
            None => Value::Null,
        },
        Kind::Int32s => read_array(r, format, 4, |r| Ok(Value::Int(r.i32()?.into())))?,
        Kind::Strings => read_array(r, format, string_min_size(format), |r| {
            let start = *r;
            let text = format.read_string(r)?;
            Ok(Value::Text(text.ok_or(null(start))?))
        })?,
        Kind::Struct(fields) => {
            // A struct that may be null has its own byte before it, below 0 for null.
            if field.is_nullable(format.version) && r.i8()? < 0 {
                Value::Null
            } else {
                read_fields(r, fields, format)?
            }
        }
        Kind::Structs(fields) => read_array(r, format, fields_min_size(fields, format), |r| {
            read_fields(r, fields, format)
        })?,
    };
    if value.is_null() && !field.is_nullable(format.version) {
        return Err(null(start).into());
    }
    Ok(value)
}

fn read_array<'a>(
    r: &mut Reader<'a>,
    format: Format,
    min_size: usize,
    mut element: impl FnMut(&mut Reader<'a>) -> Result<Borrowed<'a>, FieldError>,
) -> Result<Borrowed<'a>, FieldError> {
    let Some(count) = format.read_count(r, min_size)? else {
        return Ok(Value::Null);
    };
    let mut elements = Vec::with_capacity(count.min(MAX_RESERVE));
    for _ in 0..count {
        elements.push(element(r)?);
    }
    Ok(Value::Array(elements))
}

const fn null(start: Reader<'_>) -> WireError {
    start.error(WireErrorKind::Null)
}

/// The least bytes that a struct takes; bounds the count of an array of them.
fn fields_min_size(fields: Fields, format: Format) -> usize {
    let untagged = fields.iter().filter(|field| field.tag.is_none());
    let present = untagged.filter(|field| field.is_in(format.version));
    usize::from(format.flexible) + present.map(|field| min_size(field, format)).sum::<usize>()
}

fn min_size(field: &Field, format: Format) -> usize {
    match field.kind {
        Kind::Bool | Kind::Int8 => 1,
        Kind::Int16 => 2,
        Kind::Int32 => 4,
        Kind::Int64 => 8,
        Kind::Uuid => 16,
        Kind::String => string_min_size(format),
        Kind::Struct(_) if field.is_nullable(format.version) => 1,
        Kind::Struct(fields) => fields_min_size(fields, format),
        Kind::Bytes | Kind::Int8s | Kind::Int32s | Kind::Strings | Kind::Structs(_) => {
            if format.flexible { 1 } else { 4 }
        }
    }
}

const fn string_min_size(format: Format) -> usize {
    if format.flexible { 1 } else { 2 }
}
