//! Sessions that Kafka's test has made beside the recorded operations. Such a session is opened here just before the operation
//! that needs or shows it; the same goes for one that has vanished before an operation that does not name it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::fields::{Unknown, arguments, list, number, text};
use super::operations::failed;
use super::{Cache, Key};

/// Brings our sessions to where Kafka's were before the operation.
pub fn adopt(
    cache: &mut Cache,
    op: &Value,
    expected: &BTreeMap<Key, Value>,
) -> Result<(), Unknown> {
    let Some(named) = of_the_manager(op)? else {
        return Ok(());
    };
    let present = cache.shown();
    for (key, session) in expected {
        if !present.contains_key(key) && *key != named {
            open_like(cache, key, session, number(&session["epoch"])?)?;
        }
    }
    for (group, member) in present.keys() {
        let key = (group.clone(), member.clone());
        if !expected.contains_key(&key) && key != named {
            cache.sessions.close(group, member);
        }
    }
    if present.contains_key(&named) || failed(&op["result"]) {
        return Ok(());
    }
    let epoch: i32 = match text(&op["op"])? {
        "acknowledgeSessionUpdate" => number(&arguments::<3>(op)?[2])?,
        "newContext" => number(&arguments::<7>(op)?[4])?,
        _ => {
            let released = op["result"].as_array().into_iter().flatten();
            let partitions: Vec<&Value> = released.map(|released| &released[0]).collect();
            let like = json!({"connection": "", "partitions": partitions});
            return open_like(cache, &named, &like, 1);
        }
    };
    if epoch == 0 {
        return Ok(());
    }
    let closed = json!({"connection": "", "partitions": [], "epoch": 1});
    let after = expected.get(&named).unwrap_or(&closed);
    let expects = if epoch == -1 {
        number(&after["epoch"])?
    } else {
        epoch
    };
    open_like(cache, &named, after, expects)
}

/// The session that an operation of Kafka's `SharePartitionManager` is about: the tests reach its cache by other ways too.
fn of_the_manager(op: &Value) -> Result<Option<Key>, Unknown> {
    let args = list(&op["args"])?;
    let member = match (text(&op["op"])?, args.len()) {
        ("newContext", 7) => 3,
        ("acknowledgeSessionUpdate", 3) | ("releaseSession", 2) => 1,
        _ => return Ok(None),
    };
    Ok(Some((
        text(&args[0])?.to_owned(),
        text(&args[member])?.to_owned(),
    )))
}

/// Opens a session that the recording does not open, and has it expect this epoch.
fn open_like(cache: &mut Cache, key: &Key, like: &Value, epoch: i32) -> Result<(), Unknown> {
    let connection = cache.connection(text(&like["connection"])?);
    let partitions = cache.partitions(&like["partitions"])?;
    let opened = cache.open(key, connection, &partitions);
    opened.map_err(|code| Unknown(format!("a session that is there is refused with {code}")))?;
    for passed in 1..epoch {
        let admitted = cache.sessions.acknowledge(&key.0, &key.1, passed);
        admitted.map_err(|error| Unknown(format!("epoch {passed} is refused: {error:?}")))?;
    }
    Ok(())
}
