#![no_main]

#[path = "../bodies/batch_headers.rs"]
mod batch_headers;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    batch_headers::run(data);
});
