//! What a share partition shows of its records, as frozen classes: runs in flight, and dead letters.

use pyo3::prelude::*;

/// Records for the dead-letter queue (KIP-1191); made by `SharePartition.poll_dead_letter`.
#[pyclass(frozen, module = "share_state", get_all)]
pub struct DeadLetter {
    /// Names them in `SharePartition.handle_dead_letter_done`.
    pub token: u64,
    /// First offset.
    pub first_offset: i64,
    /// Last offset, inclusive.
    pub last_offset: i64,
    /// How often they were delivered.
    pub delivery_count: i16,
    /// `"client_reject"` or `"delivery_count_exceeded"`.
    pub cause: &'static str,
}

#[pymethods]
impl DeadLetter {
    fn __repr__(&self) -> String {
        format!(
            "DeadLetter(token={}, first_offset={}, last_offset={}, delivery_count={}, cause={:?})",
            self.token, self.first_offset, self.last_offset, self.delivery_count, self.cause
        )
    }
}

/// A run of in-flight records that are alike; made by `SharePartition.in_flight`.
#[pyclass(frozen, module = "share_state", get_all)]
pub struct InFlight {
    /// First offset.
    pub first_offset: i64,
    /// Last offset, inclusive.
    pub last_offset: i64,
    /// A `RecordState`; while `pending`, the state that is being written.
    pub state: u8,
    /// How often the records were delivered.
    pub delivery_count: i16,
    /// Whether a write of them is under way.
    pub pending: bool,
    /// Id of the member that holds them, or `None`.
    pub member: Option<String>,
    /// Since when, in ms on the caller's monotonic clock, or `None`.
    pub acquired_at_ms: Option<i64>,
    /// Until when, in ms on the caller's monotonic clock, or `None`.
    pub deadline_ms: Option<i64>,
}

#[pymethods]
impl InFlight {
    fn __repr__(&self) -> String {
        let Self {
            first_offset,
            last_offset,
            state,
            delivery_count,
            ..
        } = self;
        let pending = if self.pending { "True" } else { "False" };
        let member = or_none(self.member.as_deref().map(|member| format!("{member:?}")));
        let acquired_at_ms = or_none(self.acquired_at_ms.map(|ms| ms.to_string()));
        let deadline_ms = or_none(self.deadline_ms.map(|ms| ms.to_string()));
        format!(
            "InFlight(first_offset={first_offset}, last_offset={last_offset}, state={state}, delivery_count={delivery_count}, \
             pending={pending}, member={member}, acquired_at_ms={acquired_at_ms}, deadline_ms={deadline_ms})"
        )
    }
}

fn or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| "None".to_owned())
}
