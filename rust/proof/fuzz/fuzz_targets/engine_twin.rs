#![no_main]

#[path = "../bodies/engine_twin.rs"]
mod engine_twin;
#[path = "../bodies/share_script.rs"]
mod share_script;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    engine_twin::run(data);
});
