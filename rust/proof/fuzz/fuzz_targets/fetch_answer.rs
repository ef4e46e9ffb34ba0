#![no_main]

#[path = "../bodies/fetch_answer.rs"]
mod fetch_answer;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    fetch_answer::run(data);
});
