#![no_main]

#[path = "../bodies/history_lines.rs"]
mod history_lines;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    history_lines::run(data);
});
