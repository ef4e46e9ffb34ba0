use share_state_core::in_flight::*;
use share_state_core::offset::OffsetRange;
use share_state_core::record_state::{Phase, RecordState::*};
use share_state_core::time::LockTime;
use share_state_core::interval_tree::*;
use std::time::Instant;
fn one(o: i64) -> OffsetRange { OffsetRange { first: o, last: o } }
fn r(a: i64, b: i64) -> OffsetRange { OffsetRange { first: a, last: b } }
fn ns<T>(name: &str, n: usize, f: impl FnOnce() -> T) -> T {
    let t = Instant::now(); let x = f(); println!("{name:60} {:9.1} ns each", t.elapsed().as_nanos() as f64 / n as f64); x
}
#[derive(Clone,Copy,PartialEq,Eq)] struct C(u32);
impl RunValue for C {}
fn main() {
    const M: i64 = 1_000_000; let n = M as usize;
    let m = MemberIndex(1);
    let mut s = IntervalStore::default();
    ns("new_lock + insert_batch acquired, 1M", n, || for o in 0..M { let l = s.new_lock(one(o), m, LockTime(o/1000), 30000); s.insert_batch(one(o), Acquired, 1, Some(l)); });
    println!("bytes/record own batch own lock {:.1}", s.heap_bytes() as f64 / 1e6);
    s.insert_batch(one(M), Available, 0, None);
    ns("first_available behind 1M", 100_000, || for i in 0..100_000 { assert_eq!(std::hint::black_box(&s).first_available(i & 7), Some(M)); });
    ns("run_at random", n, || { let mut x = 1u64; for _ in 0..n { x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); std::hint::black_box(s.run_at((x >> 33) as i64 % M)); }});
    let due = ns("expire 1M", n, || s.expire(LockTime(1_000_000)));
    println!("due {:?}", due);
    ns("update 1M expired -> available", n, || s.update(due[0], |run| Some(Change { state: Available, delivery_count: run.delivery_count, phase: Phase::Settled, lock: LockChange::End })));
    ns("update 1M in place no lock", n, || s.update(due[0], |run| Some(Change { state: Available, delivery_count: run.delivery_count + 1, phase: Phase::Settled, lock: LockChange::Keep })));
    let l = s.new_lock(r(0, M - 1), m, LockTime(0), 30000);
    ns("update 1M in place acquire one lock", n, || s.update(due[0], |run| Some(Change { state: Acquired, delivery_count: run.delivery_count + 1, phase: Phase::Settled, lock: LockChange::Hold(l) })));
    s.check().unwrap();
    ns("held_by + batch_floor", 100_000, || for i in 0..100_000 { std::hint::black_box(s.batch_floor(i * 10)); std::hint::black_box(s.held_by(m)); });
    ns("remove_through 1M", n, || s.remove_through(M - 1));
    println!("bytes after {}", s.heap_bytes());
    // alternate acks
    for own in [false, true] {
        let mut s = IntervalStore::default();
        for b in 0..2000 { s.insert_batch(r(b*500, b*500+499), Available, 0, None); }
        if own { for o in 0..M { let l = s.new_lock(one(o), m, LockTime(o), 30000); s.update(one(o), |_| Some(Change{state: Acquired, delivery_count: 1, phase: Phase::Settled, lock: LockChange::Hold(l)})); } }
        else { let l = s.new_lock(r(0,M-1), m, LockTime(0), 30000); s.update(r(0, M-1), |_| Some(Change{state: Acquired, delivery_count: 1, phase: Phase::Settled, lock: LockChange::Hold(l)})); }
        let ack = |s: &mut IntervalStore, o: i64| s.update(one(o), |_| Some(Change{state: Acknowledged, delivery_count: 1, phase: Phase::Settled, lock: LockChange::End}));
        println!("own lock {own}: bytes/rec acquired {:.1}", s.heap_bytes() as f64/1e6);
        ns("alternate acks odd", n/2, || for o in (1..M).step_by(2) { ack(&mut s, o) });
        println!("bytes/record shredded {:.1}", s.heap_bytes() as f64 / 1e6);
        ns("alternate acks even", n/2, || for o in (0..M).step_by(2) { ack(&mut s, o) });
        println!("bytes after {}", s.heap_bytes());
        s.check().unwrap();
    }
    // random acks with own locks per 500
    let mut s = IntervalStore::default();
    for b in 0..2000 { let l = s.new_lock(r(b*500, b*500+499), m, LockTime(0), 30000); s.insert_batch(r(b*500, b*500+499), Acquired, 1, Some(l)); }
    let mut order: Vec<i64> = (0..M).collect();
    let mut x = 1u64; for i in (1..n).rev() { x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); order.swap(i, (x >> 33) as usize % (i + 1)); }
    let mut peak = 0.0f64;
    ns("random acks 1M", n, || for (i, &o) in order.iter().enumerate() { s.update(one(o), |_| Some(Change{state: Acknowledged, delivery_count: 1, phase: Phase::Settled, lock: LockChange::End})); if i % 50_000 == 0 { peak = peak.max(s.heap_bytes() as f64); } });
    println!("peak MB {:.1}", peak / 1e6);
    // small
    let mut s = IntervalStore::default();
    s.insert_batch(r(0, 9999), Available, 0, None);
    let l = s.new_lock(r(0,9999), m, LockTime(0), 30000);
    s.update(r(0, 9999), |_| Some(Change{state: Acquired, delivery_count: 1, phase: Phase::Settled, lock: LockChange::Hold(l)}));
    ns("in-order acks in 10k batch: pending + written", 10_000, || for o in 0..10_000 {
        s.update(one(o), |_| Some(Change{state: Acknowledged, delivery_count: 1, phase: Phase::Pending, lock: LockChange::Keep}));
        s.update(one(o), |_| Some(Change{state: Acknowledged, delivery_count: 1, phase: Phase::Settled, lock: LockChange::End}));
    });
    let mut s = IntervalStore::default();
    ns("cycle insert+lock+ack+remove of 500-batch", n, || for b in 0..M {
        let range = r(b*500, b*500+499);
        let l = s.new_lock(range, m, LockTime(b), 30000); s.insert_batch(range, Acquired, 1, Some(l));
        s.update(range, |_| Some(Change{state: Acknowledged, delivery_count: 1, phase: Phase::Pending, lock: LockChange::Keep}));
        s.update(range, |_| Some(Change{state: Acknowledged, delivery_count: 1, phase: Phase::Settled, lock: LockChange::End}));
        s.remove_through(range.last);
    });
    let mut t: IntervalTree<C> = IntervalTree::new();
    ns("set one run in a small tree", n, || for b in 0..M { t.set(one(b & 3), C((b % 7) as u32)); });
    let mut t: IntervalTree<C> = IntervalTree::new();
    for o in 0..100_000 { t.set(one(o), C(o as u32 & 1)); }
    ns("set one run in 100k runs, random", n, || { let mut x = 1u64; for _ in 0..n { x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); t.set(one((x >> 33) as i64 % 100_000), C(x as u32 & 1)); }});
}
