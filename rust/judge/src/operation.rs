//! Operations on a share partition, in the form of the conformance files (`tests/conformance`).

use serde_json::{Value, json};

/// What a group is configured with, as far as an operation may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Width of the window.
    pub max_locks: u32,
    /// Deliveries of one record.
    pub delivery_limit: i16,
    /// How long a lock lasts.
    pub lock_ms: i64,
    /// Whether records that are given up go to a dead-letter queue.
    pub dead_letters: bool,
}

/// When a persister answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the call returns.
    AtOnce,
    /// At the `persister_completes` with this id.
    Later(u32),
    /// Never.
    Never,
}

/// What a persister answers to every write of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Kafka's error code; [`Answer::EXCEPTION`] stands for an exception.
    pub code: i16,
    /// When it answers.
    pub when: When,
}

impl Answer {
    /// The persister fails without a code.
    pub const EXCEPTION: i16 = i16::MIN;
    /// The ordinary answer.
    pub const OK: Self = Self {
        code: 0,
        when: When::AtOnce,
    };

    fn result(self) -> Value {
        match (self.when, self.code) {
            (When::Never, _) => json!("pending"),
            (_, Self::EXCEPTION) => json!({"error": "RuntimeException"}),
            (_, code) => json!(format!("error_code {code}")),
        }
    }

    fn to_json(self) -> Value {
        match self.when {
            When::Later(id) => {
                json!({"result": self.result(), "completes_later": true, "async_id": id})
            }
            _ => json!({"result": self.result()}),
        }
    }
}

/// A log batch that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogBatch {
    /// First offset.
    pub base: i64,
    /// Last offset.
    pub last: i64,
    /// Producer, -1 for none.
    pub producer: i64,
    /// Whether it belongs to a transaction.
    pub transactional: bool,
    /// Whether it is a marker.
    pub control: bool,
}

/// A range of an acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// First offset.
    pub first: i64,
    /// Last offset.
    pub last: i64,
    /// One type for all offsets, or one for each.
    pub types: Vec<i8>,
}

/// A persisted batch: first and last offset, state, delivery count.
pub type Batch = (i64, i64, i8, i16);

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    /// A new leader's share partition.
    Create {
        /// Its leader epoch.
        leader_epoch: i32,
        /// The configuration it is made with.
        limits: Limits,
    },
    /// Reads the state.
    Initialize {
        /// Code of the read.
        code: i16,
        /// State epoch read.
        state_epoch: i32,
        /// Start offset read; -1 is resolved to `earliest`.
        start_offset: i64,
        /// Where the log starts.
        earliest: i64,
        /// Batches read.
        batches: Vec<Batch>,
    },
    /// Records for a member.
    Acquire {
        /// Number of the member; 0 is nobody.
        member: u8,
        /// Never more records than asked for.
        record_limit: bool,
        /// Records of a new batch.
        batch_size: i32,
        /// Records at most.
        max_records: i32,
        /// Where the log was read from.
        fetch_offset: i64,
        /// What was read.
        fetched: Vec<LogBatch>,
        /// Aborted transactions, with read_committed: producer and first offset.
        aborted: Option<Vec<(i64, i64)>>,
    },
    /// What became of records.
    Acknowledge {
        /// Number of the member.
        member: u8,
        /// The ranges.
        ranges: Vec<Range>,
        /// Whether the group lets members renew.
        renew: bool,
    },
    /// A member is gone.
    Release {
        /// Number of the member.
        member: u8,
    },
    /// Time passes.
    Advance {
        /// Milliseconds.
        ms: i64,
    },
    /// The persister gives the answers it has held back.
    Completes {
        /// Under which id.
        id: u32,
    },
    /// The log starts later.
    LogStart {
        /// Where.
        offset: i64,
    },
    /// Where to fetch next.
    NextFetchOffset,
    /// Whether to fetch.
    CanAcquire,
    /// Another leader has taken over.
    Fence,
}

/// An operation with the world around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Which leader's share partition.
    pub partition: usize,
    /// What is done.
    pub verb: Verb,
    /// The configuration from here on, when it changes.
    pub limits: Option<Limits>,
    /// What the persister answers.
    pub answer: Answer,
    /// Whether the dead-letter queue takes what it is given.
    pub queue_takes: bool,
}

impl Verb {
    /// The operation's name in the format.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Initialize { .. } => "initialize",
            Self::Acquire { .. } => "acquire",
            Self::Acknowledge { .. } => "acknowledge",
            Self::Release { .. } => "release_session",
            Self::Advance { .. } => "advance_clock",
            Self::Completes { .. } => "persister_completes",
            Self::LogStart { .. } => "move_log_start_offset",
            Self::NextFetchOffset => "next_fetch_offset",
            Self::CanAcquire => "can_acquire_records",
            Self::Fence => "mark_fenced",
        }
    }
}

/// The member id of a number.
#[must_use]
pub fn member_id(member: u8) -> String {
    if member == 0 {
        String::new()
    } else {
        format!("m{member}")
    }
}

impl Operation {
    /// The operation in the form of the conformance files, without its outcome. `recorder` takes one from every lock duration:
    /// the timers of that format fire strictly after their deadline.
    #[must_use]
    pub fn to_json(&self, recorder: bool) -> Value {
        let lock_ms = |limits: &Limits| limits.lock_ms - i64::from(recorder);
        let mut op = self.verb_json(lock_ms);
        op["op"] = json!(self.verb.name());
        if self.partition > 0 {
            op["partition_index"] = json!(self.partition);
        }
        let mut config = serde_json::Map::new();
        if let Some(limits) = &self.limits {
            config.insert(
                "partitionMaxRecordLocksOrDefault".into(),
                json!(limits.max_locks),
            );
            config.insert(
                "deliveryCountLimitOrDefault".into(),
                json!(limits.delivery_limit),
            );
            config.insert(
                "recordLockDurationMsOrDefault".into(),
                json!(lock_ms(limits)),
            );
            let topic = if limits.dead_letters {
                "Optional[dead-letters]"
            } else {
                "Optional.empty"
            };
            config.insert("errorsDLQTopicName".into(), json!(topic));
        }
        if matches!(&self.verb, Verb::Acknowledge { renew: true, .. }) {
            config.insert("isRenewAcknowledgeEnabled".into(), json!(true));
        }
        if !config.is_empty() {
            op["group_config"] = config.into();
        }
        if self.answer != Answer::OK {
            op["persister_writes"] = json!([self.answer.to_json()]);
        }
        if !self.queue_takes {
            op["dlq_enqueued"] = json!([{"result": {"error": "RuntimeException"}}]);
        }
        op
    }

    fn verb_json(&self, lock_ms: impl Fn(&Limits) -> i64) -> Value {
        match &self.verb {
            Verb::Create {
                leader_epoch,
                limits,
            } => json!({"config": {
                "leader_epoch": leader_epoch,
                "max_in_flight": limits.max_locks,
                "max_delivery_count": limits.delivery_limit,
                "record_lock_ms": lock_ms(limits),
                "initial_status": "EMPTY",
                "dlq_enabled": true,
            }}),
            Verb::Initialize {
                code,
                state_epoch,
                start_offset,
                earliest,
                batches,
            } => {
                let mut op = json!({"persister_read": {
                    "request": {"partition": 0, "leader_epoch": self.partition},
                    "response": {
                        "partition": 0, "error_code": code, "state_epoch": state_epoch,
                        "start_offset": start_offset, "batches": batches,
                    },
                }});
                if *start_offset == -1 && *code == 0 {
                    op["offset_lookup"] = json!({"offsetForEarliestTimestamp": earliest});
                }
                op
            }
            Verb::Acquire {
                member,
                record_limit,
                batch_size,
                max_records,
                fetch_offset,
                fetched,
                aborted,
            } => {
                let batches: Vec<Value> = fetched.iter().map(log_batch).collect();
                let mut op = json!({
                    "member": member_id(*member),
                    "mode": if *record_limit { "record_limit" } else { "batch_optimized" },
                    "batch_size": batch_size,
                    "max_fetch_records": max_records,
                    "fetch_offset": fetch_offset,
                    "isolation": if aborted.is_some() { "TXN_COMMITTED" } else { "HIGH_WATERMARK" },
                    "fetched_batches": batches,
                });
                if let Some(aborted) = aborted {
                    let list: Vec<Value> = aborted
                        .iter()
                        .map(|(producer, first)| json!({"producer_id": producer, "first_offset": first}))
                        .collect();
                    op["aborted_transactions"] = list.into();
                }
                op
            }
            Verb::Acknowledge { member, ranges, .. } => {
                let ranges: Vec<Value> = ranges
                    .iter()
                    .map(|r| json!([r.first, r.last, r.types]))
                    .collect();
                json!({"member": member_id(*member), "batches": ranges})
            }
            Verb::Release { member } => json!({"member": member_id(*member)}),
            Verb::Advance { ms } => json!({"ms": ms}),
            Verb::Completes { id } => json!({"async_id": id}),
            Verb::LogStart { offset } => json!({"log_start_offset": offset}),
            Verb::NextFetchOffset | Verb::CanAcquire | Verb::Fence => json!({}),
        }
    }
}

fn log_batch(batch: &LogBatch) -> Value {
    if batch.producer < 0 && !batch.control {
        return json!([batch.base, batch.last]);
    }
    json!([batch.base, batch.last, {
        "control": batch.control, "transactional": batch.transactional, "producer_id": batch.producer,
    }])
}
