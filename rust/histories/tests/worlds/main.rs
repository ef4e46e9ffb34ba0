//! Random histories: of a server that keeps every promise, and of servers that break one.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail loudly")]

mod breaks;
mod drains;
#[path = "../support/mod.rs"]
mod support;

use share_state_histories::{Check, History, Reader, Report, Settings, check};
use support::{Fault, Story, World};

fn read(story: &Story) -> History {
    let mut reader = Reader::new();
    for line in &story.lines {
        reader.line(line.as_bytes()).unwrap();
    }
    reader.finish()
}

fn checked(story: &Story) -> (History, Report) {
    let history = read(story);
    // The stall of a faulty server is longer than this.
    let settings = Settings {
        within: 20_000_000_000,
        ..Settings::default()
    };
    let report = check(&history, &settings);
    (history, report)
}

fn shown(seed: u64, history: &History, report: &Report) -> String {
    let mut text = format!("seed {seed}");
    for violation in &report.violations {
        text += &format!(
            "\n{} {:?} {}",
            violation.check.name(),
            violation.span,
            violation.text
        );
        for &at in &violation.excerpt {
            text += &format!(
                "\n    {}",
                history.line(&history.events[at as usize], violation.span)
            );
        }
    }
    text
}

/// `SEEDS=300000` plays more of them, `FIRST=2000000` others.
#[test]
fn nothing_is_found_in_sound_histories() {
    let (mut events, mut late) = (0, 0);
    let number = |name, or| std::env::var(name).map_or(or, |n| n.parse::<u64>().unwrap());
    let (first, seeds) = (number("FIRST", 0), number("SEEDS", 1000));
    for seed in first..first + seeds {
        let story = World::new(seed, None).play();
        let (history, report) = checked(&story);
        assert!(
            report.violations.is_empty(),
            "{}",
            shown(seed, &history, &report)
        );
        events += history.events.len();
        late += report.lateness.locks;
    }
    assert!(events > 50 * seeds as usize, "{events}");
    assert!(late > seeds, "{late}");
}

/// Plays servers with a fault until so many have done it, and returns in how many the check found it.
fn faulty(fault: Fault, wanted: Check) -> (u32, u32) {
    let (mut done, mut found) = (0, 0);
    for seed in 0..2000 {
        if done == 60 {
            break;
        }
        let story = World::new(seed, Some(fault)).play();
        if !story.is_done {
            continue;
        }
        done += 1;
        let (_, report) = checked(&story);
        found += u32::from(report.violations.iter().any(|one| one.check == wanted));
    }
    (done, found)
}

#[test]
fn every_broken_promise_is_found() {
    let cases = [
        (Fault::ForgetsAnEnd, Check::H1),
        (Fault::GivesTwice, Check::H2),
        (Fault::LosesARecord, Check::H3),
        (Fault::CountsTwice, Check::H4),
        (Fault::CountsNot, Check::H4),
        (Fault::IgnoresTheLimit, Check::H4),
        (Fault::ShowsAnOldStart, Check::H5),
        (Fault::ShowsAnOldLeader, Check::H5),
        (Fault::PassesARecord, Check::H5),
        (Fault::AppliesHalf, Check::H6),
        (Fault::UnlocksEarly, Check::H7),
        (Fault::Stalls, Check::H8),
    ];
    for (fault, wanted) in cases {
        let (done, found) = faulty(fault, wanted);
        assert!(done >= 40, "{fault:?}: {done}");
        assert!(found >= 20, "{fault:?}: {found} of {done}");
    }
}

/// A fail-over explains none of them, but for some counts that fall: a deposed leader may give a count again that it does not know of.
#[test]
fn a_fail_over_hides_no_break() {
    use breaks::Break;
    let mut counts = Break::ALL.map(|what| (what, 0, 0));
    for seed in 0..300 {
        let sound = World::new(seed, None).play().lines;
        for (what, done, found) in &mut counts {
            if let Some(lines) = breaks::broken(&sound, seed, *what) {
                let is_done = true;
                let (_, report) = checked(&Story { lines, is_done });
                *done += 1;
                *found += usize::from(!report.violations.is_empty());
            }
        }
    }
    for (what, done, found) in counts {
        assert!(done >= 5, "{what:?}: {done}");
        let wanted = if what == Break::Falls { done / 2 } else { done };
        assert!(found >= wanted, "{what:?}: {found} of {done}");
    }
}
