#![no_main]

#[path = "../bodies/node.rs"]
mod node;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    node::run(data);
});
