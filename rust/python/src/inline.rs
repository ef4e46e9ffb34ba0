//! The persister of a share partition that makes its writes by itself, inside the call that leads to them.
//!
//! None of them runs Python code, so it is asked while the lock of the share partition is held. The disk of a store is waited
//! for without it: other threads may go on with the share partition, and their writes share the sync.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use share_state_core::ids::SharePartitionKey;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::persister::{self as core, WriteToken};
use share_state_core::share_partition::{AcknowledgeBatch, AcknowledgeError, Settlement};
use share_state_core::time::LockTime;
use share_state_log as log;

use crate::engine::{Engine, each};
use crate::errors;
use crate::guarded::caught;
use crate::persisters::{NoOpStatePersister, Recording, RecordingPersister};
use crate::store::{StateStore, wall};

pub enum Inline {
    NoOp(Py<NoOpStatePersister>),
    Recording(Py<RecordingPersister>),
    Store(Py<StateStore>, Arc<log::StateStore>),
}

/// What came of the writes of a call so far.
#[derive(Default)]
pub struct Settling {
    pub settlement: Settlement,
    /// Writes that a store has taken in and not answered, in their order.
    pub begun: Vec<Begun>,
    /// Why a store refused the first write that a member waits for and that was refused.
    cause: Option<Box<Cause>>,
    /// What a store says of the first write that it refused, whether a member waits for it or not.
    pub why: Option<String>,
}

/// The refusal of a write that a member waits for.
pub struct Refused {
    /// The code for the member.
    pub member_code: KafkaCode,
    /// What the persister answered.
    pub persister_code: KafkaCode,
    cause: Option<Box<Cause>>,
}

/// Why a store did not take a write.
enum Cause {
    Store(log::StoreError),
    /// A bug made the store panic.
    Panic(String),
}

/// A write with its place in the log of a store.
pub struct Begun {
    token: WriteToken,
    is_awaited: bool,
    store: Arc<log::StateStore>,
    write: Result<log::AcceptedWrite, Cause>,
}

/// A write that the store has answered.
pub struct Ended {
    token: WriteToken,
    is_awaited: bool,
    refusal: Option<Cause>,
}

impl Inline {
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
        settling: &mut Settling,
    ) -> Result<(), AcknowledgeError> {
        match self {
            Self::NoOp(_) => {
                let no_op = &mut core::NoOpStatePersister;
                settling.settlement =
                    each!(engine, sp => sp.acknowledge_and_settle(member, batches, now, no_op))?;
            }
            Self::Recording(persister) => {
                let recording = &mut Recording(persister.get());
                settling.settlement = each!(engine, sp => sp.acknowledge_and_settle(member, batches, now, recording))?;
            }
            Self::Store(..) => {
                each!(&mut *engine, sp => sp.acknowledge(member, batches, now))?;
                self.settle(engine, settling);
            }
        }
        Ok(())
    }

    /// Releases what a member holds, and has the write made. Returns the number of records.
    pub fn release(
        &self,
        engine: &mut Engine,
        member: &str,
        now: LockTime,
        settling: &mut Settling,
    ) -> u64 {
        let records;
        match self {
            Self::NoOp(_) => {
                let no_op = &mut core::NoOpStatePersister;
                (records, settling.settlement) =
                    each!(engine, sp => sp.release_and_settle(member, now, no_op));
            }
            Self::Recording(persister) => {
                let recording = &mut Recording(persister.get());
                (records, settling.settlement) =
                    each!(engine, sp => sp.release_and_settle(member, now, recording));
            }
            Self::Store(..) => {
                records = each!(&mut *engine, sp => sp.release(member, now));
                self.settle(engine, settling);
            }
        }
        records
    }

    /// Has the writes that wait in `engine` made.
    pub fn settle(&self, engine: &mut Engine, settling: &mut Settling) {
        match self {
            Self::NoOp(_) => {
                settling.settlement = each!(engine, sp => sp.settle(&mut core::NoOpStatePersister));
            }
            Self::Recording(persister) => {
                let mut recording = Recording(persister.get());
                settling.settlement = each!(engine, sp => sp.settle(&mut recording));
            }
            Self::Store(_, store) => {
                let wall = wall(None);
                each!(engine, sp => while let Some(write) = sp.lend_write() {
                    let state = write.state.to_write_state();
                    settling.begun.push(Begun {
                        token: write.token,
                        is_awaited: write.is_awaited,
                        store: Arc::clone(store),
                        write: answer(|| store.begin_write(write.key, &state, wall)),
                    });
                });
            }
        }
    }
}

impl Begun {
    /// Returns when the write is as durable as the store promises, or refused; for a caller that is detached from the interpreter.
    pub fn end(self) -> Ended {
        let ended = self
            .write
            .and_then(|write| answer(|| self.store.end_write(write)));
        Ended {
            token: self.token,
            is_awaited: self.is_awaited,
            refusal: ended.err(),
        }
    }
}

impl Ended {
    /// Tells the share partition.
    pub fn tell(self, engine: &mut Engine, settling: &mut Settling) {
        let code = self.refusal.as_ref().map_or(KafkaCode::None, Cause::code);
        let settlement = &mut settling.settlement;
        each!(engine, sp => sp.settle_one(self.token, self.is_awaited, code, settlement));
        if settling.why.is_none() {
            settling.why = self.refusal.as_ref().map(Cause::text);
        }
        if self.is_awaited && settling.cause.is_none() {
            settling.cause = self.refusal.map(Box::new);
        }
    }
}

impl Settling {
    /// Whether no write waits for an answer and none was refused.
    pub fn is_confirmed(&self) -> bool {
        let Settlement {
            member_code,
            refused,
            ..
        } = self.settlement;
        self.begun.is_empty() && member_code == KafkaCode::None && refused == KafkaCode::None
    }

    /// What came of the writes so far, for a caller who has codes for its members and no exceptions.
    pub fn take_settlement(&mut self) -> Settlement {
        self.cause = None;
        std::mem::take(&mut self.settlement)
    }

    /// The refusal of a write that a member waits for, if one was refused.
    pub fn refused(self) -> Option<Refused> {
        let Settlement {
            member_code,
            persister_code,
            ..
        } = self.settlement;
        (member_code != KafkaCode::None).then_some(Refused {
            member_code,
            persister_code,
            cause: self.cause,
        })
    }
}

impl Refused {
    /// What the persister says, if it says more than a code.
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

/// What the store says. A panic inside it poisons the store and not the share partition.
fn answer<A>(verb: impl FnOnce() -> Result<A, log::StoreError>) -> Result<A, Cause> {
    caught(verb).map_or_else(
        |panic| Err(Cause::Panic(panic)),
        |done| done.map_err(Cause::Store),
    )
}
