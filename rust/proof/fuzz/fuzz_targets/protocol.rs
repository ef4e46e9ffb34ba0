#![no_main]

#[path = "../bodies/protocol.rs"]
mod protocol;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    protocol::run(data);
});
