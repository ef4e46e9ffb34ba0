//! Rules that are broken on purpose are found, and the world that shows it is made smaller.

use share_state_sim::{Broken, Cuts, Plan, play, rule, shrink};

/// Worlds that are played, at most: a rule that few of them need is seen late.
const MOST: u64 = 500;

/// The first seed that shows it.
fn found(broken: Broken) -> Option<(u64, String)> {
    (0..MOST).find_map(|seed| {
        let played = play(seed, &Cuts::default(), Some(broken));
        Some((seed, rule(&played)?.to_owned()))
    })
}

#[test]
fn every_broken_rule_is_found() {
    let mut missed = Vec::new();
    for broken in Broken::ALL {
        match found(broken) {
            Some((seed, rule)) => println!("{}: seed {seed}, {rule}", broken.name()),
            None => missed.push(broken.name()),
        }
    }
    assert_eq!(missed, Vec::<&str>::new());
    assert_eq!(Broken::ALL.len(), 16);
}

#[test]
fn a_world_that_shows_it_is_made_smaller_and_shows_it_again() {
    let broken = Broken::RenewsNot;
    let (seed, wanted) = found(broken).unwrap_or_default();
    let (cuts, played) = shrink(seed, Some(broken), &Cuts::default());
    assert_eq!(rule(&played), Some(wanted.as_str()));
    assert_ne!(cuts, Cuts::default());
    let (before, after) = (Plan::draw(seed), Plan::draw(seed).cut(&cuts));
    assert!(after.faults().count() < before.faults().count());
    let again = play(seed, &cuts, Some(broken));
    assert_eq!(again.findings, played.findings);
    assert_eq!(again.history, played.history);
    assert!(!again.history.is_empty());
}
