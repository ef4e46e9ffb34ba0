#![no_main]

#[path = "../bodies/state_rows.rs"]
mod state_rows;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    state_rows::run(data);
});
