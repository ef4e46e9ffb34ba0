//! Random sequences on share groups. Epochs are named, not numbered, so nothing of the state need be known.

use std::collections::BTreeSet;

use share_state_core::ids::TopicId;

use super::operation::{Beat, Config, Epoch, GroupOperation, TopicNow};
use crate::random::Random;

/// Far enough from 0 for a clock that goes back.
const BEGINNING: i64 = 1_000_000_000;

const NAMES: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

struct World<'a> {
    random: &'a mut Random,
    ops: Vec<GroupOperation>,
    topics: Vec<TopicNow>,
    next_id: u8,
    members: u64,
    groups: u64,
    /// Members that have joined, as far as is known.
    joined: BTreeSet<(String, String)>,
    /// True if members go rather than come.
    ebb: bool,
}

/// The sequence of a seed.
pub fn generate(random: &mut Random, length: usize) -> Vec<GroupOperation> {
    let members = random.pick(&[1, 2, 3, 5]);
    let groups = random.pick(&[1, 1, 2]);
    let config = config(random);
    let mut world = World {
        random,
        ops: vec![GroupOperation::Create {
            config,
            now: BEGINNING,
        }],
        topics: Vec::new(),
        next_id: 1,
        members,
        groups,
        joined: BTreeSet::new(),
        ebb: false,
    };
    if world.random.percent(90) {
        let topics = world.topics_change();
        world.ops.push(topics);
    }
    while world.ops.len() < length {
        let op = world.choose();
        world.ops.push(op);
        if world.random.one_in(15) {
            world.ebb = !world.ebb;
        }
    }
    world.ops.truncate(length);
    world.ops
}

fn config(random: &mut Random) -> Config {
    let mut config = vec![(
        "group.share.assignment.interval.ms",
        random.pick(&[0, 0, 1_000, 5_000]),
    )];
    if random.one_in(3) {
        config.push(("group.share.max.size", random.pick(&[1, 2, 3])));
    }
    if random.one_in(3) {
        config.push(("group.share.session.timeout.ms", 50_000));
        config.push(("group.share.heartbeat.interval.ms", 7_000));
    }
    if random.one_in(2) {
        config.push(("group.share.initialize.retry.interval.ms", 1_000));
    }
    config
}

impl World<'_> {
    fn choose(&mut self) -> GroupOperation {
        match self.random.below(100) {
            0..=57 => GroupOperation::Heartbeat(self.beat()),
            58..=69 => GroupOperation::InitializeAnswer {
                group: self.group(),
                code: self.persister(),
            },
            70..=79 => self.time_passes(),
            80..=84 => self.topics_change(),
            85..=86 => GroupOperation::Restart {
                compacted: self.random.percent(40),
            },
            87 => GroupOperation::Configure {
                group: self.group(),
                config: self.group_config(),
            },
            _ => self.administration(),
        }
    }

    fn time_passes(&mut self) -> GroupOperation {
        let steps = [
            1, 500, 1_000, 1_000, 5_000, 5_000, 20_000, 44_999, 45_000, 60_000,
        ];
        let ms = self.random.pick(&steps);
        let wall = if self.random.one_in(100) { -ms } else { ms };
        GroupOperation::Advance { ms, wall }
    }

    fn group(&mut self) -> String {
        format!("group-{}", self.random.below(self.groups))
    }

    fn persister(&mut self) -> i16 {
        if self.random.percent(85) {
            0
        } else {
            self.random.pick(&[-1, 15, 42])
        }
    }

    fn name(&mut self) -> String {
        self.random.pick(&NAMES).to_owned()
    }

    fn subscription(&mut self) -> Vec<String> {
        let few = self.random.percent(60);
        let names = NAMES.iter().take(if few { 2 } else { 4 });
        let mut topics: Vec<String> = names
            .filter(|_| self.random.percent(60))
            .map(|name| (*name).to_owned())
            .collect();
        if topics.is_empty() && !self.random.one_in(30) {
            topics.push(self.name());
        }
        topics
    }

    fn beat(&mut self) -> Beat {
        let group = self.group();
        let member = format!("member-{}", self.random.below(self.members));
        let key = (group.clone(), member.clone());
        let mut beat = Beat {
            group,
            member,
            epoch: Epoch::Current,
            rack: None,
            topics: None,
            client: "client".to_owned(),
            host: 1,
        };
        let joins = !self.joined.contains(&key) && !self.random.one_in(12);
        if joins || self.random.one_in(25) {
            beat.epoch = Epoch::Is(0);
            beat.topics = Some(self.subscription());
            beat.rack = self.random.one_in(4).then(|| "rack".to_owned());
            self.joined.insert(key.clone());
        } else {
            beat.epoch = match self.random.below(40) {
                0..=1 => Epoch::Previous,
                2 => Epoch::Is(self.random.between(-3, 9) as i32),
                _ => Epoch::Current,
            };
            if self.random.one_in(9) {
                beat.topics = Some(self.subscription());
            }
            if self.random.one_in(25) {
                beat.rack = Some(self.random.pick(&["rack", "other"]).to_owned());
            }
        }
        if self.random.one_in(if self.ebb { 2 } else { 30 }) && !joins {
            beat.epoch = Epoch::Is(-1);
            self.joined.remove(&key);
        }
        if self.random.one_in(30) {
            beat.client = "another".to_owned();
            beat.host = self.random.pick(&[1, 2]);
        }
        if self.random.one_in(80) {
            self.spoil(&mut beat);
        }
        beat
    }

    /// Makes a heartbeat that no client sends.
    fn spoil(&mut self, beat: &mut Beat) {
        match self.random.below(6) {
            0 => beat.group = String::new(),
            1 => beat.member = String::new(),
            // Kafka takes such a member in.
            2 if beat.epoch != Epoch::Is(0) => beat.member = "m".repeat(40),
            2 => beat.epoch = Epoch::Is(-7),
            3 => beat.rack = Some(String::new()),
            4 => beat.epoch = Epoch::Is(-2),
            _ => (beat.epoch, beat.topics) = (Epoch::Is(0), None),
        }
    }

    fn topics_change(&mut self) -> GroupOperation {
        for _ in 0..=self.random.below(3) {
            let name = self.name();
            let at = self.topics.iter().position(|topic| topic.name == name);
            match at {
                None => {
                    let mut id = [0; 16];
                    (id[0], id[15]) = (self.next_id.wrapping_mul(91), self.next_id);
                    self.next_id += 1;
                    let partitions = self.random.pick(&[1, 1, 2, 3, 6]);
                    self.topics.push(TopicNow {
                        name,
                        id: TopicId(id),
                        partitions,
                    });
                }
                Some(at) if self.random.percent(40) => {
                    self.topics.swap_remove(at);
                }
                Some(at) => self.topics[at].partitions += self.random.pick(&[1, 1, 3]),
            }
        }
        GroupOperation::Topics(self.topics.clone())
    }

    fn group_config(&mut self) -> Config {
        let mut config = Vec::new();
        if self.random.percent(50) {
            config.push((
                "share.session.timeout.ms",
                self.random.pick(&[45_000, 60_000, 1_000, 90_000]),
            ));
        }
        if self.random.percent(50) {
            config.push((
                "share.heartbeat.interval.ms",
                self.random.pick(&[5_000, 15_000, 100, 40_000]),
            ));
        }
        if self.random.percent(50) {
            config.push((
                "share.assignment.interval.ms",
                self.random.pick(&[0, 700, 5_000, 20_000]),
            ));
        }
        config
    }

    fn administration(&mut self) -> GroupOperation {
        let group = if self.random.one_in(15) {
            "no-such-group".to_owned()
        } else {
            self.group()
        };
        let persister = self.persister();
        match self.random.below(12) {
            0..=2 => GroupOperation::Describe { group },
            3 => GroupOperation::List,
            4 => GroupOperation::Initialized { group },
            5..=6 => GroupOperation::DeleteGroup { group, persister },
            7..=9 => {
                let mut topics: Vec<(String, Vec<(i32, i64)>)> = Vec::new();
                for _ in 0..=self.random.below(2) {
                    let name = self.name();
                    if topics.iter().any(|(other, _)| *other == name) {
                        continue;
                    }
                    let first = self.random.between(0, 3) as i32;
                    let mut partitions = vec![(first, self.random.between(0, 90))];
                    if self.random.percent(40) {
                        partitions.push((first + 1, self.random.between(0, 90)));
                    }
                    topics.push((name, partitions));
                }
                GroupOperation::Alter {
                    group,
                    topics,
                    persister,
                }
            }
            _ => {
                let mut topics = vec![self.name()];
                let other = self.name();
                if !topics.contains(&other) {
                    topics.push(other);
                }
                GroupOperation::DeleteOffsets {
                    group,
                    topics,
                    persister,
                }
            }
        }
    }
}
