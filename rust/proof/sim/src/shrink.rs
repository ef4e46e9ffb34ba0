//! A world with a finding is made smaller: fewer faults, members and records, and less time, for as long as the same rule is broken.

use crate::broken::Broken;
use crate::campaign::play;
use crate::plan::{Cuts, MS, Plan, READ_AHEAD};
use crate::world::Played;

/// The rule that was broken: the first word of a finding.
#[must_use]
pub fn rule(played: &Played) -> Option<&str> {
    played.findings.first()?.split(':').next()
}

/// The smallest cut of a world that was found to break the same rule, and what came of it.
#[must_use]
pub fn shrink(seed: u64, broken: Option<Broken>, from: &Cuts) -> (Cuts, Played) {
    let mut cuts = from.clone();
    let mut played = play(seed, &cuts, broken);
    let Some(wanted) = rule(&played).map(str::to_owned) else {
        return (cuts, played);
    };
    loop {
        let smaller = candidates(seed, &cuts).into_iter().find_map(|candidate| {
            let again = play(seed, &candidate, broken);
            let is_it = rule(&again) == Some(&wanted);
            is_it.then_some((candidate, again))
        });
        match smaller {
            Some(better) => (cuts, played) = better,
            None => return (cuts, played),
        }
    }
}

/// Cuts that go one step further; the boldest first.
fn candidates(seed: u64, cuts: &Cuts) -> Vec<Cuts> {
    let plan = Plan::draw(seed).cut(cuts);
    let mut all = Vec::new();
    for fault in plan.faults() {
        let mut without = cuts.without.clone();
        without.push(fault);
        all.push(Cuts {
            without,
            ..cuts.clone()
        });
    }
    for part in [4, 2] {
        if plan.records >= part {
            let records = Some(plan.records / part);
            all.push(Cuts {
                records,
                ..cuts.clone()
            });
        }
        if plan.faulty_us >= part * MS {
            let faulty_ms = Some(plan.faulty_us / MS / part);
            all.push(Cuts {
                faulty_ms,
                ..cuts.clone()
            });
        }
    }
    if plan.inline {
        all.push(Cuts {
            queued: true,
            ..cuts.clone()
        });
    }
    if plan.cached {
        all.push(Cuts {
            uncached: true,
            ..cuts.clone()
        });
    }
    if plan.grouped {
        all.push(Cuts {
            ungrouped: true,
            ..cuts.clone()
        });
    }
    if plan.fetch_batches < READ_AHEAD {
        all.push(Cuts {
            read_ahead: true,
            ..cuts.clone()
        });
    }
    if plan.members > 1 {
        let members = Some(plan.members - 1);
        all.push(Cuts {
            members,
            ..cuts.clone()
        });
    }
    all
}
