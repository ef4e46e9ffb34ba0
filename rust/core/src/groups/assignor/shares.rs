//! Numbers of partitions that each member is to have, and of members that each partition is to have.

/// The shares of some members in some partitions.
///
/// Kafka gives member i the part `ceil(p·(i+1)) − ceil(p·i)` with `p = sharing · partitions / members`. Whatever i, that is
/// p rounded down or up, and they add up to `sharing · partitions`; so it is enough to know how often each occurs. Which
/// members have one more is decided by who has it already, so that nothing moves without need. Integers, no rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shares {
    /// Members of each partition: 1 unless there are more members than partitions.
    pub sharing: usize,
    /// Partitions that every member has at least.
    pub least: usize,
    /// Members that have one more.
    pub extra: usize,
}

impl Shares {
    pub const fn of(members: usize, partitions: usize) -> Self {
        if members == 0 || partitions == 0 {
            return Self {
                sharing: 0,
                least: 0,
                extra: 0,
            };
        }
        let sharing = members.div_ceil(partitions);
        let gifts = sharing.saturating_mul(partitions);
        Self {
            sharing,
            least: gifts / members,
            extra: gifts % members,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kafka's running ceiling, in integers.
    fn running_ceiling(members: usize, partitions: usize) -> Vec<usize> {
        let gifts = members.div_ceil(partitions) * partitions;
        (0..members)
            .map(|i| ((i + 1) * gifts).div_ceil(members) - (i * gifts).div_ceil(members))
            .collect()
    }

    #[test]
    fn the_parts_are_those_of_kafkas_running_ceiling() {
        for members in 1..40 {
            for partitions in 1..40 {
                let shares = Shares::of(members, partitions);
                let kafka = running_ceiling(members, partitions);
                let more = kafka.iter().filter(|n| **n == shares.least + 1).count();
                let least = kafka.iter().filter(|n| **n == shares.least).count();
                assert_eq!((more, least + more), (shares.extra, members));
            }
        }
        assert_eq!(Shares::of(0, 3), Shares::of(3, 0));
    }
}
