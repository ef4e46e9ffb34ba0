//! Reading logs that are whole, torn, damaged, foreign, or being written to.

mod as_of;
mod at_rest;
mod beside;
mod damage;
mod ends;
mod folding;
mod noted;
mod paths;
mod telling;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::persister::{InitializeState, WriteState};
use share_state_core::records::{ShareRecord, ShareSnapshot, ShareUpdate, ShareValue};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::WallTime;
use share_state_wire::record_batch::{Compression, NewRecord, encode_batch, peek_size};
use share_state_wire::state_record::{encode_key, encode_value};

use super::*;
use crate::corrupt::CorruptKind;
use crate::disk::sim::SimDisk;
use crate::{StateStore, StoreConfig};

const FOLDER: &str = "/broker/__share_group_state-7";

pub(crate) fn fold_on(disk: &SimDisk, path: &Path) -> Folded {
    let scan = Scan::on(Arc::new(disk.clone()), path).unwrap();
    crate::read::fold::fold_scan(scan, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Offsets that are shown, and what is found.
fn read(disk: &SimDisk) -> (Vec<i64>, Vec<Finding>) {
    let mut scan = Scan::on(Arc::new(disk.clone()), Path::new("/broker")).unwrap();
    let offsets = scan.by_ref().map(|record| record.unwrap().offset).collect();
    (offsets, scan.into_findings())
}

fn kinds(findings: &[Finding]) -> Vec<&CorruptKind> {
    findings
        .iter()
        .map(|finding| match finding {
            Finding::Damage { corrupt, .. } | Finding::Hole { corrupt, .. } => &corrupt.kind,
            Finding::TornTail(torn) => panic!("{torn}"),
        })
        .collect()
}

fn batch(base_offset: i64, records: usize) -> Vec<u8> {
    let value = [base_offset as u8; 40];
    let record = NewRecord {
        timestamp: 5,
        key: Some(&[0, 255]),
        value: Some(&value),
    };
    encode_batch(base_offset, 3, Compression::None, &vec![record; records]).unwrap()
}

fn segment(base_offset: i64) -> PathBuf {
    Path::new(FOLDER).join(crate::layout::segment_name(base_offset))
}

/// A broker's directory with these segments in one folder.
fn broker(segments: &[(i64, Vec<u8>)]) -> SimDisk {
    let disk = SimDisk::default();
    crate::disk::Disk::create_dir(&disk, Path::new(FOLDER)).unwrap();
    for (base_offset, bytes) in segments {
        disk.put(&segment(*base_offset), bytes);
    }
    disk
}

/// Offsets 0 to 5 in three batches of one segment.
fn three_batches() -> Vec<u8> {
    [batch(0, 2), batch(2, 3), batch(5, 1)].concat()
}

fn key(n: i32) -> SharePartitionKey {
    SharePartitionKey::new("g", TopicId([1; 16]), n)
}
