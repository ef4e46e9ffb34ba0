//! The command: its status, and what it prints to play a world again.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly")]

use std::process::Command;

/// Its status, and what it prints.
fn run(arguments: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_share-state-sim"));
    let output = command.args(arguments.split_whitespace()).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), text.concat())
}

#[test]
fn sound_worlds_end_with_0_and_a_fresh_seed_is_printed() {
    let (status, text) = run("--seed 1 --worlds 20");
    assert_eq!(status, Some(0), "{text}");
    assert!(text.starts_with("seed 1 (named)\nworlds 20\n"), "{text}");
    let (status, text) = run("--seconds 0");
    assert_eq!(status, Some(0), "{text}");
    let seed = text.strip_prefix("seed ").unwrap().split_once(" (fresh)\n");
    let (seed, _) = seed.unwrap();
    assert!(seed.parse::<u64>().unwrap() > 1_000_000, "{seed}");
}

#[test]
fn a_finding_is_made_smaller_and_the_printed_command_finds_it_again() {
    let (status, text) = run("--seed 0 --worlds 3 --broken counts-not");
    assert_eq!(status, Some(1), "{text}");
    let again = text.split_once("again: cargo run --release -p share-state-sim -- ");
    let (arguments, _) = again.unwrap().1.split_once('\n').unwrap();
    assert!(arguments.contains("--without "), "{arguments}");
    let (status, again) = run(arguments);
    assert_eq!(status, Some(1), "{again}");
    let finding = |text: &str| {
        text.lines()
            .find(|line| line.contains("H4:"))
            .unwrap()
            .to_owned()
    };
    assert_eq!(finding(&again), finding(&text));
}

#[test]
fn a_meeting_that_never_happens_is_a_failure() {
    let (status, text) = run("--seed 1 --worlds 500 --without overlap --every-meeting");
    assert_eq!(status, Some(1), "{text}");
    let never = |what: &str| text.lines().any(|line| line == format!("never: {what}"));
    assert!(never("overlap"), "{text}");
    assert!(never("an overtaken leader gives records"), "{text}");
    // After the time it plays on until all have come.
    let (status, text) = run("--seed 1 --seconds 0 --every-meeting");
    assert_eq!(status, Some(0), "{text}");
    let worlds = text.lines().find_map(|line| line.strip_prefix("worlds "));
    assert!(worlds.unwrap().parse::<u64>().unwrap() >= 100, "{text}");
}

#[test]
fn what_is_not_understood_ends_with_2() {
    let (status, text) = run("--worlds many");
    assert_eq!(status, Some(2), "{text}");
    assert!(text.starts_with("--worlds many: not understood"), "{text}");
}
