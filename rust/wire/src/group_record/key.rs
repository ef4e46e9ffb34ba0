//! Keys: `type i16 · GroupId string`, and for what concerns a member `MemberId string`.

use crate::cursor::Reader;
use crate::error::{WireError, WireErrorKind};
use crate::primitives::{MAX_STRING, check_string, read_legacy_string, write_legacy_string};

/// Group and member that a key names; the member is empty if there is none.
pub(super) struct Key<'a> {
    pub group: &'a str,
    pub member: &'a str,
}

const EMPTY: WireErrorKind = WireErrorKind::Length {
    length: 0,
    max: MAX_STRING as i64,
};

pub(super) fn encode(
    record_type: i16,
    group: &str,
    member: Option<&str>,
) -> Result<Vec<u8>, WireError> {
    if group.is_empty() {
        return Err(WireError::unwritable(EMPTY));
    }
    let mut out = record_type.to_be_bytes().to_vec();
    for name in core::iter::once(group).chain(member) {
        check_string(name.len())?;
        write_legacy_string(&mut out, Some(name));
    }
    Ok(out)
}

/// Reads what follows the record type. An empty group is refused: no request can make one.
pub(super) fn read(mut r: Reader<'_>, of_member: bool) -> Result<Key<'_>, WireError> {
    let start = r;
    let group = name(&mut r)?;
    if group.is_empty() {
        return Err(start.error(EMPTY));
    }
    let member = if of_member { name(&mut r)? } else { "" };
    r.finish()?;
    Ok(Key { group, member })
}

fn name<'a>(r: &mut Reader<'a>) -> Result<&'a str, WireError> {
    let start = *r;
    read_legacy_string(r)?.ok_or(start.error(WireErrorKind::Null))
}
