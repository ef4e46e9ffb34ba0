//! share_state's side of the session profile.

use std::collections::BTreeMap;

use share_state_core::share_session::{
    Outcome, SessionView, ShareFetchContext, ShareFetchRequest, ShareSessions, TopicIdPartition,
};

use super::operation::{Fetch, Fetched, Key, SessionOperation, Tip, topic_id};
use super::outcome::SessionOutcome;

/// Plays operations one after the other.
pub struct Ours {
    /// The object under test.
    pub sessions: ShareSessions,
    /// The requests admitted, with how many sessions their member had had by then.
    pub contexts: BTreeMap<usize, (ShareFetchContext, usize)>,
    /// Number of sessions that each member has had, ended ones counted twice: differs for any two sessions, and for none.
    pub lives: BTreeMap<Key, usize>,
}

impl Default for Ours {
    fn default() -> Self {
        Self::new(0)
    }
}

/// A partition as the engine names it.
pub fn id((topic, partition): Tip) -> TopicIdPartition {
    TopicIdPartition {
        topic_id: topic_id(topic),
        partition,
    }
}

fn shown(id: TopicIdPartition) -> String {
    format!("{}-{}", id.topic_id.to_base64(), id.partition)
}

impl Ours {
    fn new(max_sessions: usize) -> Self {
        Self {
            sessions: ShareSessions::new(max_sessions),
            contexts: BTreeMap::new(),
            lives: BTreeMap::new(),
        }
    }

    /// The session of a member.
    pub fn session(&self, key: Key) -> Option<SessionView<'_>> {
        let (group, member) = (key.group(), key.member());
        self.sessions
            .sessions()
            .find(|session| session.group == group && session.member == member)
    }

    /// Returns true if the session of an admitted request lives no more.
    pub fn outlived(&self, context: usize) -> bool {
        self.contexts.get(&context).is_some_and(|(context, life)| {
            let now = self.lives.iter().find(|(key, _)| {
                key.group() == *context.key().group && key.member() == *context.key().member
            });
            now.is_some_and(|(_, now)| now != life)
        })
    }

    /// Plays one operation.
    pub fn play(&mut self, op: &SessionOperation) -> SessionOutcome {
        let mut told = Vec::new();
        let answer = match op {
            SessionOperation::Create { max_sessions } => {
                *self = Self::new(*max_sessions);
                "0".to_owned()
            }
            SessionOperation::Fetch(fetch) => self.fetch(fetch),
            SessionOperation::Answer { context, fetched } => self.answer(*context, fetched),
            SessionOperation::Acknowledge { key, epoch } => {
                match self
                    .sessions
                    .acknowledge(&key.group(), &key.member(), *epoch)
                {
                    Ok(()) => "0".to_owned(),
                    Err(error) => error.kafka_code().code().to_string(),
                }
            }
            SessionOperation::Close { key } => self.close(*key),
            SessionOperation::Disconnect { connection } => {
                for ended in self.sessions.connection_closed(*connection) {
                    for (key, life) in &mut self.lives {
                        if key.group() == *ended.group && key.member() == *ended.member {
                            *life += 1;
                        }
                    }
                    told.push(format!("{}/{}", ended.group, ended.member));
                }
                told.sort_unstable();
                "0".to_owned()
            }
        };
        self.sessions.check();
        SessionOutcome {
            answer,
            told: told.join(" "),
            sessions: self.shown(),
        }
    }

    fn fetch(&mut self, fetch: &Fetch) -> String {
        let (group, member) = (fetch.key.group(), fetch.key.member());
        let (added, forgotten): (Vec<_>, Vec<_>) = (
            fetch.added.iter().copied().map(id).collect(),
            fetch.forgotten.iter().copied().map(id).collect(),
        );
        let admitted = self.sessions.fetch(&ShareFetchRequest {
            group: &group,
            member: &member,
            epoch: fetch.epoch,
            connection: fetch.connection,
            added: &added,
            forgotten: &forgotten,
            acknowledges: fetch.acknowledges,
        });
        match admitted {
            Ok(context) => {
                let kind = match (context.is_full(), context.is_final()) {
                    (true, _) => "full",
                    (_, true) => "final",
                    _ => "incremental",
                };
                let life = self.lives.entry(fetch.key).or_default();
                // An even number is no session.
                *life += if context.is_full() { 1 + *life % 2 } else { 0 };
                let partitions: Vec<String> = context.partitions().map(shown).collect();
                self.contexts.insert(fetch.context, (context, *life));
                format!("0 {kind} [{}]", partitions.join(" "))
            }
            Err(error) => error.kafka_code().code().to_string(),
        }
    }

    fn answer(&mut self, context: usize, fetched: &[Fetched]) -> String {
        let Some((context, _)) = self.contexts.get(&context) else {
            return "0".to_owned();
        };
        let outcomes: Vec<Outcome> = fetched
            .iter()
            .map(|(tip, code, bytes)| Outcome {
                id: id(*tip),
                has_records: *bytes > 0,
                has_error: *code != 0,
                acknowledged: false,
            })
            .collect();
        let Some(listed) = self.sessions.answer(context, &outcomes) else {
            return "123 lists []".to_owned();
        };
        let listed = outcomes.iter().zip(listed).filter(|(_, listed)| *listed);
        let listed: Vec<String> = listed.map(|(outcome, _)| shown(outcome.id)).collect();
        // Partitions of a topic stand together in an answer.
        let mut topics: Vec<&str> = Vec::new();
        for partition in &listed {
            let topic = partition.rsplit_once('-').map_or("", |(topic, _)| topic);
            if !topics.contains(&topic) {
                topics.push(topic);
            }
        }
        let grouped: Vec<&str> = topics
            .iter()
            .flat_map(|topic| {
                listed
                    .iter()
                    .map(String::as_str)
                    .filter(move |p| p.rsplit_once('-').is_some_and(|(of, _)| of == *topic))
            })
            .collect();
        format!("0 lists [{}]", grouped.join(" "))
    }

    fn close(&mut self, key: Key) -> String {
        let mut partitions: Vec<String> = self
            .session(key)
            .map(|session| session.partitions().map(|(id, _)| shown(id)).collect())
            .unwrap_or_default();
        partitions.sort_unstable();
        if self.sessions.close(&key.group(), &key.member()) {
            *self.lives.entry(key).or_default() += 1;
            format!("0 releases [{}]", partitions.join(" "))
        } else {
            "122".to_owned()
        }
    }

    fn shown(&self) -> String {
        let mut sessions: Vec<SessionView<'_>> = self.sessions.sessions().collect();
        sessions.sort_unstable_by_key(|session| (session.group, session.member));
        let sessions: Vec<String> = sessions
            .iter()
            .map(|session| {
                let partitions: Vec<String> = session
                    .partitions()
                    .map(|(id, marked)| format!("{}{}", shown(id), if marked { "!" } else { "" }))
                    .collect();
                format!(
                    "{}/{} epoch {} connection-{} [{}]",
                    session.group,
                    session.member,
                    session.next_epoch(),
                    session.connection(),
                    partitions.join(" ")
                )
            })
            .collect();
        format!(
            "{}; {} partitions",
            sessions.join(", "),
            self.sessions.partition_count()
        )
    }
}
