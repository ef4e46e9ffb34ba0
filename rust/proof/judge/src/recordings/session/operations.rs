//! The recorded operations as calls of our sessions.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use share_state_core::share_session::ShareFetchRequest;

use super::super::fields::{Unknown, arguments, flag, list, number, text};
use super::{Cache, Key, key};

/// Plays an operation; its result as it would be recorded.
pub fn play(cache: &mut Cache, op: &Value) -> Result<Value, Unknown> {
    match text(&op["op"])? {
        "size" => Ok(json!(cache.sessions.len())),
        "totalPartitions" => Ok(json!(cache.sessions.partition_count())),
        "get" => {
            let [of] = arguments(op)?;
            Ok(cache.get(&key(of)?))
        }
        "maybeCreateSession" => create(cache, op),
        "remove" => {
            let [session] = arguments(op)?;
            remove(cache, &key(session.get("key").unwrap_or(session))?)
        }
        "removeAllSessions" => {
            for (group, member) in cache.shown().keys() {
                cache.sessions.close(group, member);
            }
            Ok(Value::Null)
        }
        "newContext" => new_context(cache, op),
        "acknowledgeSessionUpdate" => {
            let [group, member, epoch] = arguments(op)?;
            let admitted = cache
                .sessions
                .acknowledge(text(group)?, text(member)?, number(epoch)?);
            Ok(admitted.map_or_else(|error| refusal(error.kafka_code().code()), |()| Value::Null))
        }
        "releaseSession" => release(cache, op),
        other => Err(Unknown(format!("unknown operation {other}"))),
    }
}

/// Returns true if Kafka threw.
pub fn failed(result: &Value) -> bool {
    result.get("error").is_some()
}

/// Kafka's exception by the code of our refusal.
fn refusal(code: i16) -> Value {
    let name = match code {
        42 => "InvalidRequestException",
        122 => "ShareSessionNotFoundException",
        123 => "InvalidShareSessionEpochException",
        133 => "ShareSessionLimitReachedException",
        other => return json!({"error": other}),
    };
    json!({"error": name})
}

fn create(cache: &mut Cache, op: &Value) -> Result<Value, Unknown> {
    let [group, member, partitions, connection] = arguments(op)?;
    let added = cache.partitions(partitions)?;
    let connection = cache.connection(text(connection)?);
    let key = (text(group)?.to_owned(), text(member)?.to_owned());
    match cache.open(&key, connection, &added) {
        Ok(fetched) if fetched == added => Ok(json!({"group": key.0, "member": key.1})),
        Ok(fetched) => Ok(json!({"fetched": format!("{fetched:?}")})),
        Err(133) => Ok(Value::Null),
        Err(code) => Ok(refusal(code)),
    }
}

fn remove(cache: &mut Cache, of: &Key) -> Result<Value, Unknown> {
    let session = cache.get(of);
    if cache.sessions.close(&of.0, &of.1) == session.is_null() {
        return Err(Unknown(format!(
            "close does not say whether {of:?} was there"
        )));
    }
    Ok(session)
}

fn new_context(cache: &mut Cache, op: &Value) -> Result<Value, Unknown> {
    let [
        group,
        added,
        forgotten,
        member,
        epoch,
        acknowledges,
        connection,
    ] = arguments(op)?;
    let connection = cache.connection(text(connection)?);
    let (added, forgotten) = (cache.partitions(added)?, cache.partitions(forgotten)?);
    let admitted = cache.sessions.fetch(&ShareFetchRequest {
        group: text(group)?,
        member: text(member)?,
        epoch: number(epoch)?,
        connection,
        added: &added,
        forgotten: &forgotten,
        acknowledges: flag(acknowledges)?,
    });
    Ok(match admitted {
        Err(error) => refusal(error.kafka_code().code()),
        Ok(context) if context.is_final() => json!({"context": "final"}),
        Ok(context) => {
            json!({"context": "session", "request_epoch": epoch, "subsequent": !context.is_full()})
        }
    })
}

fn release(cache: &mut Cache, op: &Value) -> Result<Value, Unknown> {
    let [group, member] = arguments(op)?;
    let (group, member) = (text(group)?, text(member)?);
    let held = cache
        .sessions
        .sessions()
        .find(|session| session.group == group && session.member == member);
    let held: BTreeSet<_> = held
        .map(|session| session.partitions().map(|(id, _)| id).collect())
        .unwrap_or_default();
    if !cache.sessions.close(group, member) {
        return Ok(refusal(122));
    }
    let recorded = &op["result"];
    let released = match recorded {
        // Of no partition.
        Value::Object(fields) if fields.is_empty() => &[],
        Value::Object(_) => return Ok(json!({"released": format!("{held:?}")})),
        listed => list(listed)?,
    };
    let released: Result<BTreeSet<_>, Unknown> = released
        .iter()
        .map(|pair| cache.partitions.read(&pair[0]))
        .collect();
    if released? == held {
        return Ok(recorded.clone());
    }
    Ok(json!({"released": format!("{held:?}")}))
}
