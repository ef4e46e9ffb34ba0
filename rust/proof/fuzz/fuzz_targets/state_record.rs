#![no_main]

#[path = "../bodies/state_record.rs"]
mod state_record;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    state_record::run(data);
});
