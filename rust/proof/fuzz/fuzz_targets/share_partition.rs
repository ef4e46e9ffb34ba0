#![no_main]

#[path = "../bodies/share_partition.rs"]
mod share_partition;
#[path = "../bodies/share_script.rs"]
mod share_script;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    share_partition::run(data);
});
