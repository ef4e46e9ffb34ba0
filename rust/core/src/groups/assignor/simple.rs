//! The five steps of the simple assignor, on numbers: members hold partitions.

use std::collections::BTreeSet;

use super::shares::Shares;

/// Balances what members hold of the partitions `0..partitions`; what they hold already they keep as far as the balance
/// allows.
///
/// Afterwards every partition has as many members as any other (`sharing`), if there is a member at all, and the members'
/// counts differ by one at most. What is balanced does not change.
pub(super) fn balance(holdings: &mut [BTreeSet<usize>], partitions: usize) {
    let shares = Shares::of(holdings.len(), partitions);
    let mut holders = vec![0; partitions];
    for partition in holdings.iter().flatten() {
        holders[*partition] += 1;
    }
    take_from_overfilled(holdings, &mut holders, shares);
    take_from_crowded(holdings, &mut holders, shares.sharing);
    give(holdings, &mut holders, shares);
}

/// Members that hold more than their part give back; first those partitions that have the most members.
fn take_from_overfilled(holdings: &mut [BTreeSet<usize>], holders: &mut [usize], shares: Shares) {
    let mut extra = shares.extra;
    for held in holdings {
        let mut part = shares.least;
        if held.len() > part && extra > 0 {
            extra -= 1;
            part += 1;
        }
        let Some(over) = held.len().checked_sub(part).filter(|over| *over > 0) else {
            continue;
        };
        let mut given_back: Vec<usize> = held.iter().copied().collect();
        given_back.sort_unstable_by_key(|partition| {
            core::cmp::Reverse((holders[*partition], *partition))
        });
        for partition in given_back.into_iter().take(over) {
            held.remove(&partition);
            holders[partition] -= 1;
        }
    }
}

/// Partitions with too many members lose some; first those that hold the most.
fn take_from_crowded(holdings: &mut [BTreeSet<usize>], holders: &mut [usize], sharing: usize) {
    for (partition, count) in holders.iter_mut().enumerate() {
        if *count <= sharing {
            continue;
        }
        let mut members: Vec<usize> = (0..holdings.len())
            .filter(|member| holdings[*member].contains(&partition))
            .collect();
        members.sort_by_key(|member| core::cmp::Reverse((holdings[*member].len(), *member)));
        for member in members.into_iter().take(*count - sharing) {
            holdings[member].remove(&partition);
            *count -= 1;
        }
    }
}

/// Fills partitions up to `sharing`, one after the other, by members in turn.
///
/// Members without their least come first; the one more that some may have goes to whoever can take it. So a lap always
/// finds somebody: who lacks the least holds no partition that lacks members, and of those with just the least more than
/// `sharing - 1` are left as long as one of them may have one more. Kafka names them before, and its cursor stays at its
/// end after a lap in which they all hold the partition already; then those that follow get nobody.
fn give(holdings: &mut [BTreeSet<usize>], holders: &mut [usize], shares: Shares) {
    let counts: Vec<usize> = holdings.iter().map(BTreeSet::len).collect();
    let members = |fits: &dyn Fn(usize) -> bool| {
        let chosen = counts.iter().enumerate().filter(|(_, count)| fits(**count));
        chosen.map(|(member, _)| member).collect::<Vec<_>>()
    };
    let with_more = members(&|count| count > shares.least).len();
    let mut extra = shares.extra.saturating_sub(with_more);
    let mut below = Ring::of(members(&|count| count < shares.least));
    let mut level = Ring::of(members(&|count| count == shares.least));
    for (partition, count) in holders.iter_mut().enumerate() {
        while *count < shares.sharing {
            let free = |member: usize| !holdings[member].contains(&partition);
            if let Some(member) = below.next(free) {
                holdings[member].insert(partition);
                if holdings[member].len() == shares.least {
                    below.leave();
                    level.join(member);
                }
            } else if extra > 0
                && let Some(member) = level.next(free)
            {
                holdings[member].insert(partition);
                extra -= 1;
                level.leave();
            } else {
                break;
            }
            *count += 1;
        }
    }
}

/// Members who take turns.
struct Ring {
    members: Vec<usize>,
    /// Place of who is next.
    at: usize,
}

impl Ring {
    const fn of(members: Vec<usize>) -> Self {
        Self { members, at: 0 }
    }

    /// The next member that may take; a lap at most.
    fn next(&mut self, may: impl Fn(usize) -> bool) -> Option<usize> {
        let (first, last) = self.members.split_at(self.at.min(self.members.len()));
        let lap = last.iter().chain(first);
        let steps = lap.clone().position(|member| may(*member))?;
        let member = *lap.clone().nth(steps)?;
        self.at = (self.at + steps + 1) % self.members.len();
        Some(member)
    }

    /// Takes out the member that [`Self::next`] named last.
    fn leave(&mut self) {
        let Some(last) = self.members.len().checked_sub(1) else {
            return;
        };
        let place = self.at.checked_sub(1).unwrap_or(last);
        self.members.remove(place);
        self.at = if place == last { 0 } else { place };
    }

    fn join(&mut self, member: usize) {
        self.members.push(member);
    }
}
