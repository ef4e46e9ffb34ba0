#![no_main]

#[path = "../bodies/message.rs"]
mod message;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    message::run(data);
});
