#![no_main]

#[path = "../bodies/segment.rs"]
mod segment;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    segment::run(data);
});
