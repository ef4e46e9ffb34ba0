//! The states that a log tells.
//!
//! All records on the disk are folded in order, those below the log start offset too. That gives what a broker gives,
//! which loads from the log start: it deletes only below every live key's latest snapshot, so of a live key nothing that
//! counts lies below, and of a deleted key the tombstone comes after whatever is left of it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use share_state_core::group_offset::ShareGroupOffset;
pub use share_state_core::history::Oddity as NoteKind;
use share_state_core::ids::SharePartitionKey;
use share_state_wire::WireError;
use share_state_wire::record_batch::RecordView;
use share_state_wire::state_record::{RecordDecoder, Seen};

use super::locate::Target;
use super::{AsOf, Finding, Scan, ScanError, scan};
use crate::corrupt::{CorruptKind, CorruptLog};
use crate::progress::Progress;

/// State of one share partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedState {
    /// State partition that holds it.
    pub partition: u32,
    /// The share partition.
    pub key: SharePartitionKey,
    /// Its state; see [`ShareGroupOffset::incomplete`] for one whose snapshot is missing.
    pub state: ShareGroupOffset,
}

/// States that a log gives, with what could not be read and what was odd.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// The states, ordered by key; deleted ones are absent.
    pub states: Vec<FoldedState>,
    /// Parts that could not be read. The states of those partitions may be wrong.
    pub findings: Vec<Finding>,
    /// Records that are odd and were folded as Kafka does, at most [`Folded::MAX_NOTES`].
    pub notes: Vec<Note>,
    /// Number of odd records, those beyond that limit included.
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
    /// Oddity of the record.
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
    let mut folding = Folding::default();
    let mut report_at = 0;
    loop {
        let at = scan.progress();
        if at.bytes_done >= report_at {
            report_at = at.bytes_done + PROGRESS_BYTES;
            report(on_progress, at)?;
        }
        let more = scan.visit_batch(|target, position, record| {
            folding.visit(target, position, record);
        })?;
        if !more {
            break;
        }
    }
    report(on_progress, scan.progress())?;
    Ok(folding.end(scan.into_findings()))
}

/// A fold while it runs. The records of a state partition stand together, so it knows the keys of one at a time.
#[derive(Default)]
struct Folding {
    folded: Folded,
    /// State partition of `states`.
    partition: u32,
    decoder: RecordDecoder,
    /// State of each share partition, by its number in the decoder.
    states: Vec<(SharePartitionKey, Option<ShareGroupOffset>)>,
    damage: Vec<Finding>,
}

impl Folding {
    fn visit(&mut self, target: &Target, position: u64, record: RecordView<'_>) {
        if target.partition != self.partition {
            self.end_partition();
            self.partition = target.partition;
        }
        let decoded = record.key.map(|key| self.decoder.decode(key, record.value));
        match decoded {
            Some(Ok(Seen::Record { number, key, value })) => {
                self.folded.records += 1;
                if number == self.states.len() {
                    self.states.push((key.clone(), None));
                }
                let Some((_, state)) = self.states.get_mut(number) else {
                    return;
                };
                if let Some(kind) = NoteKind::of(value, state.as_ref()) {
                    let (partition, offset) = (target.partition, record.offset);
                    self.folded.note(partition, offset, key, kind);
                }
                ShareGroupOffset::fold(state, value);
            }
            Some(Ok(Seen::UnknownType(_))) => self.folded.unknown_types += 1,
            Some(Err(error)) => self.unreadable(target, position, record.offset, Some(error)),
            None => self.unreadable(target, position, record.offset, None),
        }
    }

    #[cold]
    fn unreadable(
        &mut self,
        target: &Target,
        position: u64,
        offset: i64,
        error: Option<WireError>,
    ) {
        let (partition, path) = (target.partition, target.path.clone());
        let finding = unreadable(partition, path, position, offset, error);
        self.damage.push(finding);
    }

    fn end_partition(&mut self) {
        self.decoder = RecordDecoder::default();
        let partition = self.partition;
        let states = self.states.drain(..).filter_map(|(key, state)| {
            Some(FoldedState {
                partition,
                key,
                state: state?,
            })
        });
        self.folded.states.extend(states);
    }

    fn end(mut self, findings: Vec<Finding>) -> Folded {
        self.end_partition();
        let mut folded = self.folded;
        folded
            .states
            .sort_unstable_by(|a, b| (&a.key, a.partition).cmp(&(&b.key, b.partition)));
        folded.findings = findings;
        folded.findings.append(&mut self.damage);
        folded
    }
}

impl Folded {
    fn note(&mut self, partition: u32, offset: i64, key: &SharePartitionKey, kind: NoteKind) {
        self.notes_total += 1;
        if self.notes.len() < Self::MAX_NOTES {
            self.notes.push(Note {
                partition,
                offset,
                key: key.clone(),
                kind,
            });
        }
    }
}

/// Finding about a record that cannot be read: its key is missing, or its bytes are wrong.
pub(super) fn unreadable(
    partition: u32,
    segment: PathBuf,
    position: u64,
    offset: i64,
    error: Option<WireError>,
) -> Finding {
    Finding::Damage {
        partition,
        corrupt: CorruptLog {
            segment,
            position,
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
