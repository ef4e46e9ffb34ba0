//! Outcome of an operation: the same form for Kafka's share partition and for ours.

use serde_json::Value;

use crate::operation::Batch;

/// The answer of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    /// Nothing is answered.
    Nothing,
    /// Acquired ranges with their delivery counts.
    Acquired(Vec<(i64, i64, i16)>),
    /// Kafka's code; 0 is success.
    Code(i16),
    /// The write was never answered.
    Pending,
    /// An offset.
    Offset(i64),
    /// Yes or no.
    Flag(bool),
}

/// Neighbouring offsets in the same state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// First offset.
    pub first: i64,
    /// Last offset.
    pub last: i64,
    /// Id of the state.
    pub state: u8,
    /// Deliveries.
    pub delivery_count: i16,
    /// Number of the member that holds them; 0 is nobody.
    pub member: u8,
    /// True if a write is under way.
    pub pending: bool,
    /// Time at which the lock ends; -1 unless acquired with no write under way.
    pub deadline: i64,
}

/// Id of the state in which a member holds records.
pub const ACQUIRED: u8 = 1;
/// Id of the state in which records wait for the dead-letter queue.
pub const ARCHIVING: u8 = 3;
/// Id of the state of records that were given up.
pub const ARCHIVED: u8 = 4;

impl Run {
    /// Acknowledged or archived.
    #[must_use]
    pub const fn terminal(&self) -> bool {
        matches!(self.state, 2 | 4)
    }

    /// Terminal, with no write under way.
    #[must_use]
    pub const fn done(&self) -> bool {
        self.terminal() && !self.pending
    }

    /// Returns true if it says the same of its offsets as the other one of its own.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        *other
            == Self {
                first: other.first,
                last: other.last,
                ..self.clone()
            }
    }

    fn joins(&self, next: &Self) -> bool {
        next.first == self.last + 1 && self.says_the_same(next)
    }
}

/// The effective state of a share partition.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct State {
    /// Kafka's name of the status.
    pub status: String,
    /// First offset that may be delivered.
    pub start: i64,
    /// Kafka's end offset.
    pub end: i64,
    /// Epoch of the state.
    pub epoch: i32,
    /// Terminal records from the start offset on.
    pub delivery_complete: i64,
    /// False if Kafka has marked that there is nothing to fetch next; ours looks always.
    pub looks: bool,
    /// The gap window while it counts: its first offset.
    pub gap: Option<i64>,
    /// Joined runs, ascending.
    pub runs: Vec<Run>,
}

/// Adds a run, joined to the one before where they say the same.
pub fn push(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if last.joins(&run) => last.last = run.last,
        _ => runs.push(run),
    }
}

/// A payload for the persister.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Start offset.
    pub start: i64,
    /// Terminal records from there on.
    pub delivery_complete: i64,
    /// Batches that changed.
    pub batches: Vec<Batch>,
}

/// Records for the dead-letter queue: first and last offset, delivery count, whether a member rejected them.
pub type Letter = (i64, i64, i16, bool);

/// Outcome of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The answer.
    pub answered: Answered,
    /// The exception's name, when Kafka threw or failed.
    pub exception: Option<String>,
    /// Writes for the persister.
    pub writes: Vec<Write>,
    /// Records that the dead-letter queue was given.
    pub letters: Vec<Letter>,
    /// The state afterwards, when it changed.
    pub state: Option<State>,
}

/// An answer of Kafka's process that is not in its form.
#[derive(Debug)]
pub struct Malformed(pub String);

fn number(value: &Value) -> Result<i64, Malformed> {
    value
        .as_i64()
        .ok_or_else(|| Malformed(format!("{value} is no number")))
}

impl Outcome {
    /// Outcome of an operation that Kafka's process tells.
    ///
    /// # Errors
    /// It is not in its form.
    pub fn of_kafka(given: &Value) -> Result<Self, Malformed> {
        if given.get("unknown").is_some() {
            return Err(Malformed(format!("unknown operation: {given}")));
        }
        let result = &given["expect"]["result"];
        let acquired = &given["expect"]["acquired"];
        let answered = if let Some(ranges) = acquired.as_array() {
            let ranges: Result<_, _> = ranges
                .iter()
                .map(|r| Ok((number(&r[0])?, number(&r[1])?, number(&r[2])? as i16)))
                .collect();
            Answered::Acquired(ranges?)
        } else if let Some(code) = given.get("code") {
            Answered::Code(number(code)? as i16)
        } else {
            match result {
                Value::String(text) if text == "pending" => Answered::Pending,
                Value::String(_) => Answered::Code(0),
                Value::Number(_) => Answered::Offset(number(result)?),
                Value::Bool(flag) => Answered::Flag(*flag),
                _ => Answered::Nothing,
            }
        };
        let mut outcome = Self {
            answered,
            exception: result["error"].as_str().map(str::to_owned),
            writes: Vec::new(),
            letters: Vec::new(),
            state: None,
        };
        outcome.take(given)?;
        for timeout in given["lock_timeouts_fired"]
            .as_array()
            .unwrap_or(&Vec::new())
        {
            outcome.take(timeout)?;
        }
        if let Some(state) = given.get("state") {
            outcome.state = Some(state_of_kafka(state)?);
        }
        Ok(outcome)
    }

    fn take(&mut self, given: &Value) -> Result<(), Malformed> {
        for write in given["persister_writes"].as_array().unwrap_or(&Vec::new()) {
            let mut batches = Vec::new();
            for b in write["batches"].as_array().unwrap_or(&Vec::new()) {
                batches.push((
                    number(&b[0])?,
                    number(&b[1])?,
                    number(&b[2])? as i8,
                    number(&b[3])? as i16,
                ));
            }
            self.writes.push(Write {
                start: number(&write["start_offset"])?,
                delivery_complete: number(&write["delivery_complete_count"])?,
                batches,
            });
        }
        for letter in given["dlq_enqueued"].as_array().unwrap_or(&Vec::new()) {
            let count = letter["delivery_count"].as_str().unwrap_or("");
            let count = count.trim_start_matches("Optional[").trim_end_matches(']');
            let count = count.parse().map_err(|_| Malformed(format!("{letter}")))?;
            let rejected = letter["cause"]
                .as_str()
                .is_some_and(|cause| cause.contains("rejected by client"));
            self.letters.push((
                number(&letter["first"])?,
                number(&letter["last"])?,
                count,
                rejected,
            ));
        }
        Ok(())
    }
}

fn state_of_kafka(state: &Value) -> Result<State, Malformed> {
    let mut runs = Vec::new();
    for batch in state["batches"].as_array().unwrap_or(&Vec::new()) {
        match batch["offsets"].as_array() {
            Some(offsets) => {
                for entry in offsets {
                    push(&mut runs, run_of_kafka(entry)?);
                }
            }
            None => push(&mut runs, run_of_kafka(batch)?),
        }
    }
    let end = number(&state["end_offset"])?;
    let gap = match &state["read_gap_window"] {
        Value::Array(window) if number(&window[1])? == end => Some(number(&window[0])?),
        _ => None,
    };
    Ok(State {
        status: state["status"].as_str().unwrap_or("").to_owned(),
        start: number(&state["start_offset"])?,
        end,
        epoch: number(&state["state_epoch"])? as i32,
        delivery_complete: number(&state["delivery_complete_count"])?,
        looks: state["find_next_fetch_offset"].as_bool().unwrap_or(true),
        gap,
        runs,
    })
}

fn run_of_kafka(entry: &Value) -> Result<Run, Malformed> {
    let state = match entry[2].as_str().unwrap_or("") {
        "AVAILABLE" => 0,
        "ACQUIRED" => ACQUIRED,
        "ACKNOWLEDGED" => 2,
        "ARCHIVING" => 3,
        "ARCHIVED" => 4,
        other => return Err(Malformed(format!("unknown state {other}"))),
    };
    let pending = entry[6].as_bool().unwrap_or(false);
    let member = entry[4].as_str().unwrap_or("");
    let held = state == ACQUIRED;
    Ok(Run {
        first: number(&entry[0])?,
        last: number(&entry[1])?,
        state,
        delivery_count: number(&entry[3])? as i16,
        member: if held {
            member.trim_start_matches('m').parse().unwrap_or(0)
        } else {
            0
        },
        pending,
        deadline: if held && !pending {
            number(&entry[7])?
        } else {
            -1
        },
    })
}
