//! Writes operations one after the other.

use crate::oplog::{Header, Op, OpKind, OpLog};

/// An operation log that is being written.
#[derive(Debug)]
pub struct Builder {
    log: OpLog,
}

/// As many records as there are, and new in-flight batches as long as the log's.
const NO_LIMIT: (i32, i32) = (i32::MAX, i32::MAX);

impl Builder {
    /// For this many share partitions and members, with a window without a practical limit and Kafka's other defaults.
    #[must_use]
    pub fn new(partitions: u32, members: u32) -> Self {
        Self {
            log: OpLog {
                header: Header {
                    workload: String::new(),
                    seed: 0,
                    size: 0,
                    elements: 0,
                    partitions,
                    members,
                    max_record_locks: i32::MAX as u32,
                    lock_ms: 30_000,
                    delivery_limit: 5,
                },
                ops: Vec::new(),
                blob: Vec::new(),
            },
        }
    }

    /// Returns the header of the log, to be changed.
    pub const fn header(&mut self) -> &mut Header {
        &mut self.log.header
    }

    /// The log, which does this many elements in its timed sections.
    #[must_use]
    pub fn finish(mut self, elements: u64) -> OpLog {
        self.log.header.elements = elements;
        self.log
    }

    /// Operations so far.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.log.ops.len()
    }

    /// Returns true if there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.log.ops.is_empty()
    }

    /// The log, for its blob.
    pub const fn log(&mut self) -> &mut OpLog {
        &mut self.log
    }

    /// Any operation.
    pub fn push(&mut self, op: Op) {
        self.log.ops.push(op);
    }

    /// Fetches one log batch for a member.
    pub fn acquire(&mut self, partition: u32, member: u32, first: i64, last: i64) {
        self.acquire_limited(partition, member, (first, last), NO_LIMIT);
    }

    /// The same, with the most records and the batch size.
    pub fn acquire_limited(
        &mut self,
        partition: u32,
        member: u32,
        (first, last): (i64, i64),
        (max_records, batch_size): (i32, i32),
    ) {
        self.push(Op {
            member: member as u16,
            partition,
            first,
            last,
            value: i64::from(max_records) | i64::from(batch_size) << 32,
            ..Op::of(OpKind::Acquire)
        });
    }

    /// Acknowledges a range with one type.
    pub fn acknowledge(&mut self, partition: u32, member: u32, (first, last): (i64, i64), id: u8) {
        self.push(Op {
            arg: id,
            member: member as u16,
            partition,
            first,
            last,
            ..Op::of(OpKind::Acknowledge)
        });
    }

    /// The time, for one share partition.
    pub fn tick(&mut self, partition: u32, now: i64) {
        self.push(Op {
            partition,
            value: now,
            ..Op::of(OpKind::Tick)
        });
    }

    /// An operation on a share partition that says nothing else.
    pub fn plain(&mut self, kind: OpKind, partition: u32) {
        self.push(Op {
            partition,
            ..Op::of(kind)
        });
    }

    /// A member leaves.
    pub fn release(&mut self, partition: u32, member: u32) {
        self.push(Op {
            partition,
            member: member as u16,
            ..Op::of(OpKind::Release)
        });
    }

    /// Begins a timed section.
    pub fn begin(&mut self) {
        self.push(Op::of(OpKind::Begin));
    }

    /// Ends a timed section.
    pub fn end(&mut self) {
        self.push(Op::of(OpKind::End));
    }
}

/// Numbers without a pattern, the same in every run (SplitMix64).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next below `n`, which is not 0.
    pub const fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// The next between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts a list in an order without a pattern (Fisher-Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for left in (1..list.len()).rev() {
            list.swap(left, self.below(left as u64 + 1) as usize);
        }
    }
}
