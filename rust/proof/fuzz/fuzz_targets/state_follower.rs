#![no_main]

#[path = "../bodies/state_follower.rs"]
mod state_follower;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    state_follower::run(data);
});
