#![no_main]

#[path = "../bodies/batch_ring.rs"]
mod batch_ring;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    batch_ring::run(data);
});
