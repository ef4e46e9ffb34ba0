//! The persister of a share partition that makes its writes by itself, inside the call that leads to them.
//!
//! None of them runs Python code, so it is asked while the lock of the share partition is held. What a store only has to append
//! is answered there too: that is over sooner than a detaching from the interpreter. A sync is waited for without the lock: other
//! threads may go on with the share partition, and their writes share the sync.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::{LentWrite, WritePersister, WriteToken};
use share_state_core::share_partition::{AcknowledgeBatch, AcknowledgeError, Settlement};
use share_state_core::time::{LockTime, WallTime};
use share_state_log as log;

use crate::errors;
use crate::locked::caught;
use crate::partition::engine::{Engine, each};
use crate::partition::persisters::{NoOpStatePersister, Recording, RecordingPersister};
use crate::state::store::{StateStore, wall};

/// A persister that Rust can ask without Python code.
pub enum Persister {
    NoOp(Py<NoOpStatePersister>),
    Recording(Py<RecordingPersister>),
    Store(Py<StateStore>, Arc<log::StateStore>),
}

/// Writes that a call has led to so far, and their outcome.
#[derive(Default)]
pub struct CallWrites {
    pub outcome: Settlement,
    /// Writes that a store has taken in and not answered, in their order.
    pub waiting: Vec<WaitingWrite>,
    /// The writes of the call need not share a group commit: each is answered where it is taken if that takes no wait.
    is_one: bool,
    /// Reason why a store refused the first write that a member waits for and that was refused.
    cause: Option<Box<Cause>>,
    /// Reason of a store for the first write that it refused, whether a member waits for it or not.
    pub why: Option<String>,
}

/// The refusal of a write that a member waits for.
pub struct RefusedWrite {
    /// The code for the member.
    pub member_code: KafkaCode,
    /// Code that the persister answered.
    pub persister_code: KafkaCode,
    cause: Option<Box<Cause>>,
}

/// Reason why a store did not take a write.
enum Cause {
    Store(log::StoreError),
    /// A bug made the store panic.
    Panic(String),
}

/// A write with its place in the log of a store.
pub struct WaitingWrite {
    token: WriteToken,
    is_awaited: bool,
    store: Arc<log::StateStore>,
    write: Result<log::AcceptedWrite, Cause>,
}

/// A write that the store has answered.
pub struct AnsweredWrite {
    token: WriteToken,
    is_awaited: bool,
    refusal: Option<Cause>,
}

impl Persister {
    pub fn of(persister: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(persister) = persister.cast::<NoOpStatePersister>() {
            return Ok(Self::NoOp(persister.clone().unbind()));
        }
        if let Ok(persister) = persister.cast::<RecordingPersister>() {
            return Ok(Self::Recording(persister.clone().unbind()));
        }
        if let Ok(persister) = persister.cast::<StateStore>() {
            let store = Arc::clone(persister.get().shared());
            return Ok(Self::Store(persister.clone().unbind(), store));
        }
        Err(PyTypeError::new_err(format!(
            "persister is a {}, neither a StateStore, a NoOpStatePersister nor a RecordingPersister: carry the writes to \
             it with share_state.persister.drain_writes",
            persister.get_type().name()?
        )))
    }

    pub fn object(&self, py: Python<'_>) -> Py<PyAny> {
        match self {
            Self::NoOp(persister) => persister.clone_ref(py).into_any(),
            Self::Recording(persister) => persister.clone_ref(py).into_any(),
            Self::Store(persister, _) => persister.clone_ref(py).into_any(),
        }
    }

    /// Acknowledges, and has the write made.
    pub fn acknowledge(
        &self,
        engine: &mut Engine,
        member: &str,
        batches: &[AcknowledgeBatch<'_>],
        now: LockTime,
        writes: &mut CallWrites,
    ) -> Result<(), AcknowledgeError> {
        let persister = &mut self.in_call(writes);
        let settlement =
            each!(engine, sp => sp.acknowledge_and_settle(member, batches, now, persister))?;
        writes.outcome.join(settlement);
        Ok(())
    }

    /// Releases what a member holds, and has the write made. Returns the number of records.
    pub fn release(
        &self,
        engine: &mut Engine,
        member: &str,
        now: LockTime,
        writes: &mut CallWrites,
    ) -> u64 {
        let persister = &mut self.in_call(writes);
        let (records, settlement) =
            each!(engine, sp => sp.release_and_settle(member, now, persister));
        writes.outcome.join(settlement);
        records
    }

    /// Has the writes that wait in `engine` made.
    pub fn settle(&self, engine: &mut Engine, writes: &mut CallWrites) {
        let persister = &mut self.in_call(writes);
        let settlement = each!(engine, sp => sp.settle(persister));
        writes.outcome.join(settlement);
    }

    const fn in_call<'a>(&'a self, writes: &'a mut CallWrites) -> PersisterInCall<'a> {
        PersisterInCall {
            persister: self,
            writes,
            wall: None,
        }
    }
}

/// The persister in one call of the engine.
struct PersisterInCall<'a> {
    persister: &'a Persister,
    writes: &'a mut CallWrites,
    /// Time of the call, once a store has asked for it.
    wall: Option<WallTime>,
}

impl WritePersister for PersisterInCall<'_> {
    fn take(&mut self, write: LentWrite<'_>) -> Option<KafkaCode> {
        let store = match self.persister {
            Persister::NoOp(_) => return Some(KafkaCode::None),
            Persister::Recording(persister) => return Recording(persister.get()).take(write),
            Persister::Store(_, store) => store,
        };
        let wall = *self.wall.get_or_insert_with(|| wall(None));
        let accepted = answer(|| store.begin_write(write.key, write.state, wall));
        // Answers come in the order of the writes.
        if self.writes.is_one
            && self.writes.waiting.is_empty()
            && let Ok(accepted) = &accepted
        {
            match answer(|| store.try_end_write(accepted)) {
                Ok(false) => {}
                ended => return Some(self.writes.note(write.is_awaited, ended.err())),
            }
        }
        self.writes.waiting.push(WaitingWrite {
            token: write.token,
            is_awaited: write.is_awaited,
            store: Arc::clone(store),
            write: accepted,
        });
        None
    }
}

impl WaitingWrite {
    /// Returns when the write is as durable as the store promises, or refused; for a caller that is detached from the interpreter.
    pub fn end(self) -> AnsweredWrite {
        let ended = self
            .write
            .and_then(|write| answer(|| self.store.end_write(write)));
        AnsweredWrite {
            token: self.token,
            is_awaited: self.is_awaited,
            refusal: ended.err(),
        }
    }
}

impl AnsweredWrite {
    /// Tells the share partition.
    pub fn tell(self, engine: &mut Engine, writes: &mut CallWrites) {
        let code = writes.note(self.is_awaited, self.refusal);
        let outcome = &mut writes.outcome;
        each!(engine, sp => sp.settle_one(self.token, self.is_awaited, code, outcome));
    }
}

impl CallWrites {
    /// Keeps the reason of a refusal. Returns the code of the answer.
    fn note(&mut self, is_awaited: bool, refusal: Option<Cause>) -> KafkaCode {
        let Some(cause) = refusal else {
            return KafkaCode::None;
        };
        let code = cause.code();
        if self.why.is_none() {
            self.why = Some(cause.text());
        }
        if is_awaited && self.cause.is_none() {
            self.cause = Some(Box::new(cause));
        }
        code
    }

    /// Writes of a call of one share partition, which share a group commit with no other writes of the call.
    pub fn of_one() -> Self {
        Self {
            is_one: true,
            ..Self::default()
        }
    }

    /// Returns true if no write waits for an answer and none was refused.
    pub fn is_confirmed(&self) -> bool {
        let Settlement {
            member_code,
            refused,
            ..
        } = self.outcome;
        self.waiting.is_empty() && member_code == KafkaCode::None && refused == KafkaCode::None
    }

    /// Takes the outcome of the writes so far, for a caller who has codes for its members and no exceptions.
    pub fn take_outcome(&mut self) -> Settlement {
        self.cause = None;
        std::mem::take(&mut self.outcome)
    }

    /// The refusal of a write that a member waits for, if one was refused.
    pub fn refused(self) -> Option<RefusedWrite> {
        let Settlement {
            member_code,
            persister_code,
            ..
        } = self.outcome;
        (member_code != KafkaCode::None).then_some(RefusedWrite {
            member_code,
            persister_code,
            cause: self.cause,
        })
    }
}

impl RefusedWrite {
    /// Reason of the persister, if it says more than a code.
    pub fn why(&self) -> Option<String> {
        self.cause.as_deref().map(Cause::text)
    }

    /// The persister's own exception.
    pub fn cause(&self, py: Python<'_>, key: &SharePartitionKey) -> Option<PyErr> {
        self.cause.as_deref().map(|cause| match cause {
            Cause::Store(error) => errors::store(py, Some(key), error),
            Cause::Panic(panic) => errors::poisoned(py, "this StateStore", panic),
        })
    }
}

impl Cause {
    fn text(&self) -> String {
        match self {
            Self::Store(error) => error.to_string(),
            Self::Panic(panic) => panic.clone(),
        }
    }

    const fn code(&self) -> KafkaCode {
        match self {
            Self::Store(error) => error.kafka_code(),
            Self::Panic(_) => KafkaCode::UnknownServerError,
        }
    }
}

/// Answer of the store. A panic inside it poisons the store and not the share partition.
fn answer<A>(verb: impl FnOnce() -> Result<A, log::StoreError>) -> Result<A, Cause> {
    caught(verb).map_or_else(
        |panic| Err(Cause::Panic(panic)),
        |done| done.map_err(Cause::Store),
    )
}
