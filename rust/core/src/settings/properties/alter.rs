//! Altering the properties of a group (IncrementalAlterConfigs on a group resource).

use std::collections::HashSet;

use super::{GroupProperty, Properties, PropertyError, check_group};

/// Alteration of one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alteration {
    /// Name of the property.
    pub name: String,
    /// Operation on the property.
    pub operation: AlterOperation,
    /// The value, for an operation that has one.
    pub value: Option<String>,
}

/// Operation on a property (`AlterConfigOp.OpType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlterOperation {
    /// Give it this value.
    Set,
    /// Let it fall back.
    Delete,
    /// Add to a list.
    Append,
    /// Take from a list.
    Subtract,
    /// A number that Kafka has no operation for.
    Other(i8),
}

impl From<i8> for AlterOperation {
    fn from(number: i8) -> Self {
        match number {
            0 => Self::Set,
            1 => Self::Delete,
            2 => Self::Append,
            3 => Self::Subtract,
            other => Self::Other(other),
        }
    }
}

/// Returns a group's properties after these alterations: all of them or none. No group property is a list.
///
/// `name` is that of the group. An empty one is refused after the form of the alterations, before their values.
///
/// As in Kafka, *every* property of the group must be allowed afterwards, so one that the broker has outlawed since must be
/// altered with the first; and a property that there is not may be deleted.
///
/// # Errors
/// The first alteration or value that is refused.
pub fn alter_group(
    name: &str,
    group: &Properties,
    alterations: &[Alteration],
    broker: &Properties,
) -> Result<Properties, PropertyError> {
    let mut named = HashSet::new();
    for alteration in alterations {
        if !named.insert(&alteration.name) {
            let name = alteration.name.clone();
            return Err(PropertyError::Repeated { name });
        }
    }
    for alteration in alterations {
        if alteration.operation != AlterOperation::Delete && alteration.value.is_none() {
            let name = alteration.name.clone();
            return Err(PropertyError::Null { name });
        }
    }
    let mut altered = group.clone();
    for Alteration {
        name,
        operation,
        value,
    } in alterations
    {
        match operation {
            AlterOperation::Set => {
                let value = value.clone().unwrap_or_default();
                altered.insert(name.clone(), value);
            }
            AlterOperation::Delete => {
                altered.remove(name);
            }
            AlterOperation::Append | AlterOperation::Subtract => {
                return Err(PropertyError::NoList {
                    name: name.clone(),
                    operation: if *operation == AlterOperation::Append {
                        "APPEND"
                    } else {
                        "SUBTRACT"
                    },
                });
            }
            AlterOperation::Other(number) => {
                return Err(PropertyError::UnknownOperation {
                    name: name.clone(),
                    operation: *number,
                });
            }
        }
    }
    if name.is_empty() {
        return Err(PropertyError::NoGroupName);
    }
    for alteration in alterations {
        if alteration.operation == AlterOperation::Set {
            GroupProperty::find(&alteration.name)?;
        }
    }
    check_group(&altered, broker)?;
    Ok(altered)
}
