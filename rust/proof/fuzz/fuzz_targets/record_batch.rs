#![no_main]

#[path = "../bodies/record_batch.rs"]
mod record_batch;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    record_batch::run(data);
});
