//! Operations in the form of the conformance files, which is the input of Kafka's side.

use serde_json::{Value, json};

use super::{Answer, Limits, LogBatch, Operation, Queue, Verb, When, member_id};

impl Answer {
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

impl Queue {
    fn to_json(self) -> Value {
        let result = if self.takes {
            json!("ok")
        } else {
            json!({"error": "RuntimeException"})
        };
        match self.when {
            When::AtOnce => json!({"result": result}),
            When::Later(id) => json!({"result": result, "completes_later": true, "async_id": id}),
            When::Never => json!({"result": "pending"}),
        }
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
        // Without an index time passes for the latest leader.
        if self.partition > 0 || matches!(self.verb, Verb::Advance { .. }) {
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
        if self.queue != Queue::OK {
            op["dlq_enqueued"] = json!([self.queue.to_json()]);
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
            Verb::Completes { id } | Verb::LettersDone { id } => json!({"async_id": id}),
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
