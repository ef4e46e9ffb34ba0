#![no_main]

#[path = "../bodies/draft_record.rs"]
mod draft_record;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    draft_record::run(data);
});
