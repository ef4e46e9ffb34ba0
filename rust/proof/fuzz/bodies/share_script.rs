//! Any bytes as the script of a share partition: a few bytes are its configuration, and each that follows is an operation with its
//! arguments. Small numbers, so that operations meet.

use share_state_core::ids::{SharePartitionKey, TopicId};
use share_state_core::in_flight::InFlightStore;
use share_state_core::kafka_code::KafkaCode;
use share_state_core::limits::ShareGroupConfig;
use share_state_core::persister::{ReadStateResult, WriteState, WriteToken};
use share_state_core::share_partition::{
    AbortedTransaction, AcknowledgeBatch, AcquireMode, AcquireRequest, DeadLetter, DeadLetterToken,
    FetchedBatch, SharePartition,
};
use share_state_core::state_batch::StateBatch;
use share_state_core::time::LockTime;

/// Operations of a script: a longer one finds nothing that a shorter one does not.
const MOST_OPERATIONS: usize = 200;

/// The bytes that are not used yet; 0 for each that is missing.
pub struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn below(&mut self, n: u8) -> i64 {
        i64::from(self.byte() % n)
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::from(self.byte()) % of.len()]
    }

    fn member(&mut self) -> &'static str {
        self.pick(&["m1", "m2", "m3", "m1", "m2", ""])
    }
}

/// A share partition, the time, and what its writes and dead letters wait for.
pub struct Bench<S> {
    pub partition: SharePartition<S>,
    pub now: i64,
    writes: Vec<WriteToken>,
    letters: Vec<DeadLetterToken>,
    /// Writes and dead letters that the last operation handed out.
    pub written: Vec<WriteState>,
    pub dead: Vec<DeadLetter>,
}

/// Plays a script on a share partition, and looks at it after each operation with what was answered. The number of operations that
/// were taken.
pub fn play<S: InFlightStore>(data: &[u8], mut look: impl FnMut(&Bench<S>, &str)) -> usize {
    let mut script = Script(data);
    let config = ShareGroupConfig {
        partition_max_record_locks: script.pick(&[5, 10, 40, 200, 2_000]),
        delivery_count_limit: script.pick(&[2, 3, 5, 10]),
        record_lock_duration_ms: script.pick(&[10, 50, 1_000]),
        renew_acknowledge_enable: !script.byte().is_multiple_of(4),
        dead_letter_queue: script.byte().is_multiple_of(4),
        ..ShareGroupConfig::default()
    };
    let key = SharePartitionKey::new("g", TopicId([7; 16]), 0);
    let Ok(partition) = SharePartition::<S>::new(key, 1, config) else {
        return 0;
    };
    let mut bench = Bench {
        partition,
        now: 0,
        writes: Vec::new(),
        letters: Vec::new(),
        written: Vec::new(),
        dead: Vec::new(),
    };
    let read = bench.persisted(&mut script);
    let answer = format!("{:?}", bench.partition.initialize(read));
    bench.hand_out();
    look(&bench, &answer);
    let mut taken = 0;
    for _ in 0..MOST_OPERATIONS {
        if script.0.is_empty() {
            break;
        }
        let answer = bench.operate(&mut script);
        taken += usize::from(!answer.starts_with("Err"));
        bench.hand_out();
        look(&bench, &answer);
    }
    taken
}

impl<S: InFlightStore> Bench<S> {
    fn persisted(&mut self, script: &mut Script<'_>) -> ReadStateResult {
        let start_offset = script.below(4);
        let mut first = start_offset;
        let mut state_batches = Vec::new();
        for _ in 0..script.below(4) {
            first += script.below(4);
            let last = first + script.below(8);
            state_batches.push(StateBatch {
                first_offset: first,
                last_offset: last,
                delivery_state: script.pick(&[0, 0, 2, 4, 3]),
                delivery_count: script.pick(&[1, 1, 2, 4]),
            });
            first = last + 1;
        }
        ReadStateResult {
            state_epoch: 0,
            start_offset,
            state_batches,
        }
    }

    /// The next operation of the script; what it answers.
    fn operate(&mut self, script: &mut Script<'_>) -> String {
        let now = LockTime(self.now);
        match script.byte() % 16 {
            0..=4 => self.acquire(script, now),
            5..=8 => self.acknowledge(script, now),
            9 => format!("{}", self.partition.release(script.member(), now)),
            10 => {
                self.now += script.below(60);
                format!("{}", self.partition.handle_timeout(LockTime(self.now)))
            }
            11 | 12 if !self.writes.is_empty() => {
                let at = usize::from(script.byte()) % self.writes.len();
                let token = self.writes.swap_remove(at);
                let none = KafkaCode::None;
                let code = script.pick(&[none, none, none, KafkaCode::CoordinatorNotAvailable]);
                format!("{:?}", self.partition.handle_write_result(token, code, now))
            }
            13 if !self.letters.is_empty() => {
                let at = usize::from(script.byte()) % self.letters.len();
                let token = self.letters.swap_remove(at);
                format!("{:?}", self.partition.handle_dead_letter_done(token, now))
            }
            14 => {
                let offset = self.partition.start_offset() + script.below(12);
                format!("{}", self.partition.move_log_start_offset(offset))
            }
            15 => {
                let mut config = *self.partition.config();
                config.partition_max_record_locks = script.pick(&[5, 20, 100]);
                config.delivery_count_limit = script.pick(&[2, 3, 5]);
                format!("{:?}", self.partition.configure(config))
            }
            _ => format!("{}", self.partition.next_fetch_offset()),
        }
    }

    fn acquire(&mut self, script: &mut Script<'_>, now: LockTime) -> String {
        let next = self.partition.next_fetch_offset();
        let from = (next + script.pick(&[0, 0, 0, -3, 2, 7])).max(0);
        let mut fetched = Vec::new();
        let mut base = from;
        for _ in 0..script.below(4) {
            let kind = script.byte();
            base += i64::from(kind % 3 / 2);
            let last = base + script.pick(&[0, 1, 4, 9, 30]);
            fetched.push(FetchedBatch {
                producer_id: i64::from(kind / 64),
                is_transactional: kind % 8 == 7,
                ..FetchedBatch::plain(base, last)
            });
            base = last + 1;
        }
        let aborted = [AbortedTransaction {
            producer_id: script.below(4),
            first_offset: from + script.below(6) - 2,
        }];
        let request = AcquireRequest {
            member: script.member(),
            mode: script.pick(&[AcquireMode::BatchOptimized, AcquireMode::RecordLimit]),
            batch_size: script.pick(&[1, 3, 500, 0]),
            max_records: script.pick(&[1, 5, 500, i32::MAX, 0]),
            fetch_offset: from,
            fetched: &fetched,
            aborted: script.byte().is_multiple_of(3).then_some(&aborted),
        };
        format!("{:?}", self.partition.acquire(&request, now))
    }

    fn acknowledge(&mut self, script: &mut Script<'_>, now: LockTime) -> String {
        let member = script.member();
        let mut first = self.partition.start_offset() + script.below(24) - 3;
        let mut ranges = Vec::new();
        for _ in 0..=script.below(3) {
            let last = first + script.pick(&[0, 0, 2, 5, 9, -1]);
            let length = usize::try_from(last - first + 1).unwrap_or(0);
            let count = script.pick(&[1, 1, length, length + 1]);
            let kinds: Vec<i8> = (0..count)
                .map(|_| script.pick(&[1, 2, 3, 4, 0, 1, 2, 9]))
                .collect();
            ranges.push((first, last, kinds));
            first = last + script.pick(&[1, 1, 2, 5, 0]);
        }
        let batches: Vec<AcknowledgeBatch<'_>> = ranges
            .iter()
            .map(|(first, last, types)| AcknowledgeBatch {
                first: *first,
                last: *last,
                types,
            })
            .collect();
        format!("{:?}", self.partition.acknowledge(member, &batches, now))
    }

    fn hand_out(&mut self) {
        self.written.clear();
        self.dead.clear();
        while let Some(write) = self.partition.poll_write() {
            self.writes.push(write.token);
            self.written.push(write.state);
        }
        while let Some(letter) = self.partition.poll_dead_letter() {
            self.letters.push(letter.token);
            self.dead.push(letter);
        }
    }
}
