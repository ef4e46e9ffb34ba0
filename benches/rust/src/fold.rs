//! Replays the logs of a share coordinator: folds, snapshots and encoded requests.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use share_state_core::group_offset::ShareGroupOffset;
use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::WriteState;
use share_state_core::records::{ShareRecord, ShareUpdate, ShareValue};
use share_state_core::state_batch::StateBatch;
use share_state_wire::messages::encode_write_request;
use share_state_wire::state_record::{Decoded, decode, encode_key, encode_value};

use crate::digest::{Digest, POINT, Results};
use crate::engine::Window;
use crate::oplog::{OpKind, OpLog};

/// The fold of share_state.
#[derive(Debug, Default)]
struct CoreFold(Option<ShareGroupOffset>);

impl CoreFold {
    fn fold(&mut self, update: &ShareValue) {
        ShareGroupOffset::fold(&mut self.0, update);
    }

    fn state(&self) -> Vec<StateBatch> {
        self.0
            .as_ref()
            .map_or_else(Vec::new, |state| state.state_batches.to_vec())
    }

    /// The bytes of the state as a snapshot, read again.
    fn snapshot(&self) -> Vec<u8> {
        let snapshot = self.0.as_ref().expect("a state").to_snapshot();
        let record = ShareRecord {
            key: SharePartitionKey::new("group", TopicId([7; 16]), 0),
            value: ShareValue::Snapshot(snapshot),
        };
        let key = encode_key(&record).expect("a legal key");
        let value = encode_value(&record.value)
            .expect("a legal value")
            .expect("no tombstone");
        match decode(&key, Some(&value)).expect("what was encoded") {
            Decoded::Record(read) => assert_eq!(read, record),
            other => panic!("{other:?}"),
        }
        value
    }
}

enum Step {
    Fold(ShareValue),
    Snapshot,
    Encode(Rc<WriteState>),
    Check,
    Begin,
    End,
}

/// Requests and records are made before anything is timed, as a coordinator has them from the network; equal requests are one, as
/// for the other engines.
fn steps(log: &OpLog) -> Vec<Step> {
    let mut requests = HashMap::new();
    let step = |op: usize| match log.ops[op].kind {
        OpKind::Fold => Step::Fold(ShareValue::Update(ShareUpdate {
            snapshot_epoch: 0,
            leader_epoch: 0,
            start_offset: log.ops[op].first,
            delivery_complete_count: 0,
            state_batches: log.batches(&log.ops[op]),
            unknown_tagged_fields: Vec::new(),
        })),
        OpKind::Encode => {
            let request = requests.entry(log.ops[op].value).or_insert_with(|| {
                Rc::new(WriteState {
                    state_epoch: 0,
                    leader_epoch: 0,
                    start_offset: log.ops[op].first,
                    delivery_complete_count: 0,
                    state_batches: log.batches(&log.ops[op]),
                })
            });
            Step::Encode(Rc::clone(request))
        }
        OpKind::Snapshot => Step::Snapshot,
        OpKind::Begin => Step::Begin,
        OpKind::End => Step::End,
        _ => Step::Check,
    };
    (0..log.ops.len()).map(step).collect()
}

/// Returns true if a log holds folds or encodings.
#[must_use]
pub fn is_fold(log: &OpLog) -> bool {
    let is = |kind| matches!(kind, OpKind::Fold | OpKind::Encode);
    log.ops.iter().any(|op| is(op.kind))
}

/// Replays once; the results go to `digest` if there is one. Returns the time of the timed sections, or the operation at
/// which the time was up.
///
/// # Errors
/// The operation at which the time was up.
pub fn replay(
    log: &OpLog,
    mut digest: Option<&mut Digest>,
    limit: Duration,
) -> Result<Duration, usize> {
    let steps = steps(log);
    let started = Instant::now();
    let (mut section, mut total) = (started, Duration::ZERO);
    let mut state = CoreFold::default();
    for (index, step) in steps.iter().enumerate() {
        if index % 64 == 0 && started.elapsed() > limit {
            return Err(index);
        }
        match step {
            Step::Fold(update) => state.fold(update),
            Step::Snapshot => bytes(&state.snapshot(), digest.as_deref_mut()),
            Step::Encode(write) => {
                let request =
                    encode_write_request("group", &[(TopicId([7; 16]), &[(0, write.as_ref())])], 1)
                        .expect("a legal request");
                bytes(&request, digest.as_deref_mut());
            }
            Step::Check => {
                if let Some(digest) = &mut digest {
                    let window = Window {
                        start: 0,
                        end: 0,
                        complete: 0,
                    };
                    digest.state(window, &state.state());
                }
            }
            Step::Begin => section = Instant::now(),
            Step::End => total += section.elapsed(),
        }
    }
    Ok(total)
}

/// Bytes count by their number and by the polynomial over them.
fn bytes(bytes: &[u8], digest: Option<&mut Digest>) {
    let Some(digest) = digest else {
        std::hint::black_box(bytes);
        return;
    };
    let sum = bytes.iter().fold(0_u64, |sum, byte| {
        sum.wrapping_mul(POINT).wrapping_add(u64::from(*byte))
    });
    digest.offset(bytes.len() as i64);
    digest.offset(sum.cast_signed());
}
