//! The states that a log tells.
//!
//! All records on the disk are folded in order, those below the log start offset too. That gives what a broker gives,
//! which loads from the log start: it deletes only below every live key's latest snapshot, so of a live key nothing that
//! counts lies below, and of a deleted key the tombstone comes behind whatever is left of it.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use share_state_core::group_offset::ShareGroupOffset;
pub use share_state_core::history::Oddity as NoteKind;
use share_state_core::ids::SharePartitionKey;
use share_state_wire::WireError;
use share_state_wire::state_record::Decoded;

use super::{AsOf, Finding, LogRecord, Scan, ScanError, scan};
use crate::corrupt::{CorruptKind, CorruptLog};
use crate::store::Progress;

/// One share partition's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedState {
    /// State partition that holds it.
    pub partition: u32,
    /// The share partition.
    pub key: SharePartitionKey,
    /// Its state; see [`ShareGroupOffset::incomplete`] for one whose snapshot is missing.
    pub state: ShareGroupOffset,
}

/// What a log tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// The states, ordered by key; deleted ones are absent.
    pub states: Vec<FoldedState>,
    /// What could not be read. The states of those partitions may be wrong.
    pub findings: Vec<Finding>,
    /// What is odd and was folded as Kafka does, at most [`Folded::MAX_NOTES`].
    pub notes: Vec<Note>,
    /// How much was odd.
    pub notes_total: u64,
    /// Records folded.
    pub records: u64,
    /// Records of types that this release does not know, passed over as Kafka does.
    pub unknown_types: u64,
}

impl Folded {
    /// Most notes kept.
    pub const MAX_NOTES: usize = 1000;
}

/// A record that no coordinator should have written after those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// State partition.
    pub partition: u32,
    /// Offset of the record.
    pub offset: i64,
    /// The share partition.
    pub key: SharePartitionKey,
    /// What is odd.
    pub kind: NoteKind,
}

/// Bytes between two calls of the progress callback.
const PROGRESS_BYTES: u64 = 1 << 20;

/// Folds every state partition under `path`. `on_progress` is called about once a MiB and may end it.
///
/// # Errors
/// There is nothing to read, the disk failed, or the callback asked to stop. Damage is no error but a finding.
pub fn fold(
    path: impl AsRef<Path>,
    on_progress: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Folded, ScanError> {
    fold_as_of(path, AsOf::default(), on_progress)
}

/// Folds a prefix of every state partition under `path`; otherwise as [`fold`].
///
/// # Errors
/// See [`fold`].
pub fn fold_as_of(
    path: impl AsRef<Path>,
    as_of: AsOf,
    mut on_progress: impl FnMut(Progress) -> ControlFlow<()>,
) -> Result<Folded, ScanError> {
    fold_scan(scan(path)?.as_of(as_of), &mut on_progress)
}

pub(super) fn fold_scan(
    mut scan: Scan,
    on_progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Folded, ScanError> {
    let mut folded = Folded::default();
    let mut states: HashMap<(u32, SharePartitionKey), ShareGroupOffset> = HashMap::new();
    let mut report_at = 0;
    let mut damage = Vec::new();
    while let Some(record) = scan.next() {
        let at = scan.progress();
        if at.bytes_done >= report_at {
            report_at = at.bytes_done + PROGRESS_BYTES;
            report(on_progress, at)?;
        }
        let record = record?;
        match record.decode() {
            Ok(Some(Decoded::Record(decoded))) => {
                folded.records += 1;
                let key = (record.partition, decoded.key);
                let mut state = states.remove(&key);
                if let Some(kind) = NoteKind::of(&decoded.value, state.as_ref()) {
                    folded.note(&record, &key.1, kind);
                }
                ShareGroupOffset::fold(&mut state, &decoded.value);
                if let Some(state) = state {
                    states.insert(key, state);
                }
            }
            Ok(Some(Decoded::UnknownType(_))) => folded.unknown_types += 1,
            Ok(None) => damage.push(unreadable(&scan, &record, None)),
            Err(error) => damage.push(unreadable(&scan, &record, Some(error))),
        }
    }
    report(on_progress, scan.progress())?;
    folded.states = states
        .into_iter()
        .map(|((partition, key), state)| FoldedState {
            partition,
            key,
            state,
        })
        .collect();
    folded
        .states
        .sort_unstable_by(|a, b| (&a.key, a.partition).cmp(&(&b.key, b.partition)));
    folded.findings = scan.into_findings();
    folded.findings.append(&mut damage);
    Ok(folded)
}

impl Folded {
    fn note(&mut self, record: &LogRecord, key: &SharePartitionKey, kind: NoteKind) {
        self.notes_total += 1;
        if self.notes.len() < Self::MAX_NOTES {
            let LogRecord {
                partition, offset, ..
            } = *record;
            self.notes.push(Note {
                partition,
                offset,
                key: key.clone(),
                kind,
            });
        }
    }
}

/// What is to be told of a record that cannot be read: its key is missing, or what is wrong with its bytes.
pub(super) fn unreadable(scan: &Scan, record: &LogRecord, error: Option<WireError>) -> Finding {
    let offset = record.offset;
    Finding::Damage {
        partition: record.partition,
        corrupt: CorruptLog {
            segment: scan
                .path()
                .unwrap_or(Path::new(&*record.segment))
                .to_owned(),
            position: record.position,
            kind: match error {
                Some(error) => CorruptKind::Record { offset, error },
                None => CorruptKind::NullKey { offset },
            },
        },
    }
}

fn report(
    on_progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    progress: Progress,
) -> Result<(), ScanError> {
    match on_progress(progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(ScanError::Interrupted(progress)),
    }
}
