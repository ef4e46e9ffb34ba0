//! Outcome of an operation on share sessions, as text that is the same for both sides.

use serde_json::Value;

/// Outcome of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionOutcome {
    /// The code and what else is answered.
    pub answer: String,
    /// Owners of the sessions that a connection took along.
    pub told: String,
    /// All sessions afterwards: epoch, connection, and the partitions in order, with a mark where the next answer lists one
    /// whatever happens.
    pub sessions: String,
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(i64::MIN)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// `id:name-0` without the name.
fn unnamed(tip: &str) -> String {
    let id = tip.split(':').next().unwrap_or("?");
    let partition = tip.rsplit('-').next().unwrap_or("?");
    format!("{id}-{partition}")
}

impl SessionOutcome {
    /// Outcome that Kafka's process tells.
    pub fn of_kafka(given: &Value) -> Self {
        let mut told: Vec<String> = list(&given["events"])
            .iter()
            .filter(|event| event[0] == "member_leave")
            .map(|event| format!("{}/{}", text(&event[1]), text(&event[2])))
            .collect();
        told.sort_unstable();
        let sessions: Vec<String> = list(&given["sessions"]).iter().map(session).collect();
        Self {
            answer: answer(&given["result"]),
            told: told.join(" "),
            sessions: format!(
                "{}; {} partitions",
                sessions.join(", "),
                number(&given["total_partitions"])
            ),
        }
    }
}

fn answer(result: &Value) -> String {
    if result.get("error").is_some() {
        return number(&result["code"]).to_string();
    }
    if let Some(context) = result.get("context") {
        let kind = match (text(context), result["subsequent"] == true) {
            ("final", _) => "final",
            (_, true) => "incremental",
            (_, false) => "full",
        };
        let fetched: Vec<String> = list(&result["valid"])
            .iter()
            .map(|tip| unnamed(text(tip)))
            .collect();
        return format!("0 {kind} [{}]", fetched.join(" "));
    }
    if let Some(code) = result.get("code") {
        let listed: Vec<String> = list(&result["partitions"])
            .iter()
            .map(|p| format!("{}-{}", text(&p[0]), number(&p[1])))
            .collect();
        return format!("{} lists [{}]", number(code), listed.join(" "));
    }
    if let Some(released) = result.as_array() {
        // In the order of a hash map.
        let mut released: Vec<String> = released.iter().map(|p| unnamed(text(&p[0]))).collect();
        released.sort_unstable();
        return format!("0 releases [{}]", released.join(" "));
    }
    "0".to_owned()
}

fn session(session: &Value) -> String {
    let partitions: Vec<String> = list(&session["partitions"])
        .iter()
        .map(|p| {
            let mark = if p[2] == true { "!" } else { "" };
            format!("{}-{}{mark}", text(&p[0]), number(&p[1]))
        })
        .collect();
    format!(
        "{}/{} epoch {} {} [{}]",
        text(&session["key"]["group"]),
        text(&session["key"]["member"]),
        number(&session["epoch"]),
        text(&session["connection"]),
        partitions.join(" ")
    )
}
