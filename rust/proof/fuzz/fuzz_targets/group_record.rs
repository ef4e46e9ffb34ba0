#![no_main]

#[path = "../bodies/group_record.rs"]
mod group_record;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    group_record::run(data);
});
