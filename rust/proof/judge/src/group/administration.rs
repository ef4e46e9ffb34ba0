//! Requests of administrators to share groups, and what time and the cluster do to them, on both sides.

use serde_json::Value;
use share_state_core::ids::TopicId;
use share_state_core::share_group::{DescribedGroup, GroupError, GroupRecord};

use super::log::{read, shown};
use super::ours::Ours;
use super::point::Points;
use super::text::{assigned, assigned_json};

/// A number of Kafka's; one that no number is stands for none.
pub fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(i64::MIN)
}

/// The code of a refusal.
pub fn code(error: &GroupError) -> String {
    error.kafka_code().code().to_string()
}

/// Both sides of an operation.
pub struct Both<'a> {
    /// Our side.
    pub ours: &'a mut Ours,
    /// Answer of Kafka's side.
    pub given: &'a Value,
    /// Points in which the sides differ.
    pub points: Points,
}

impl Both<'_> {
    /// Kafka's records with our hashes; `own` are ours.
    pub fn kafka(&mut self, own: &[GroupRecord]) -> Vec<GroupRecord> {
        let mut records = read(&self.given["records"]).unwrap_or_else(|wrong| {
            self.points.differ("codec", wrong, String::new(), None);
            Vec::new()
        });
        if let Err(wrong) = self.ours.translate(&mut records, own) {
            self.points
                .differ("metadata hash", wrong, String::new(), None);
        }
        records
    }

    /// Compares records, those that say nothing new left out, and takes over Kafka's.
    pub fn records(&mut self, own: &[GroupRecord]) {
        let kafka = self.kafka(own);
        self.points.same(
            "records",
            shown(&self.ours.latest.news(&kafka)),
            shown(&self.ours.latest.news(own)),
        );
        self.ours.adopt(&kafka);
    }

    /// Takes over what only Kafka does.
    pub fn adopt(&mut self) {
        let kafka = self.kafka(&[]);
        self.ours.adopt(&kafka);
    }

    /// Compares the code of the answer.
    pub fn code(&mut self, own: &str) {
        let kafka = number(&self.given["result"]["code"]);
        self.points.same("code", kafka.to_string(), own.to_owned());
    }

    /// Time passes, and sessions end.
    pub fn advance(&mut self, ms: i64, wall: i64) -> String {
        let due = self.ours.advance(ms, wall);
        let mut after = self.ours.clone();
        let mut records = Vec::new();
        for (group, member) in &due {
            match after.groups.decide_expire(group, member) {
                Ok(decided) => {
                    after.try_out(&decided.records);
                    records.extend(decided.records);
                }
                Err(error) => {
                    let error = format!("{group} {member}: {error}");
                    self.points.differ("expiry", String::new(), error, None);
                }
            }
        }
        let kafka = self.kafka(&records);
        self.points.same("records", shown(&kafka), shown(&records));
        self.ours.adopt(&kafka);
        format!("{} end", due.len().min(3))
    }

    /// The cluster has other topics.
    pub fn deleted(&mut self, gone: &[TopicId]) -> String {
        let own = self.ours.groups.decide_topics_deleted(gone);
        self.records(&own);
        format!("{} groups lose one", own.len())
    }

    /// A group is described.
    pub fn describe(&mut self, group: &str) -> String {
        let result = &self.given["result"];
        let own = self.ours.groups.describe(group);
        let own = own.map_or_else(|| "69".to_owned(), |own| self.described(&own));
        let kafka = match number(&result["code"]) {
            0 => described(result),
            code => code.to_string(),
        };
        let reached = own.split(' ').next().unwrap_or_default().to_owned();
        self.points.same("description", kafka, own);
        reached
    }

    fn described(&self, group: &DescribedGroup) -> String {
        let members: Vec<String> = group
            .members
            .iter()
            .map(|member| {
                // Topics that do not exist any more have no name.
                let named = member
                    .assigned
                    .restricted(|id| self.ours.topics.iter().any(|topic| topic.id == id));
                let m = &member.metadata;
                format!(
                    "{} epoch {} rack {} client {} {} topics {} {}",
                    member.id,
                    member.epoch,
                    m.rack_id.as_deref().unwrap_or("-"),
                    m.client_id,
                    m.client_host,
                    m.subscribed_topics.join(","),
                    assigned(&named)
                )
            })
            .collect();
        format!(
            "{} epoch {} assignment {} {} {{{}}}",
            group.state.name(),
            group.epoch,
            group.assignment_epoch,
            group.assignor,
            members.join("; ")
        )
    }

    /// The groups are listed.
    pub fn list(&mut self) -> String {
        let listed = self.given["result"].as_array().into_iter().flatten();
        let kafka: Vec<String> = listed
            .map(|group| {
                let field = |at: usize| group[at].as_str().unwrap_or("?").to_owned();
                format!("{} {} {} {}", field(0), field(1), field(2), field(3))
            })
            .collect();
        let own: Vec<String> = self
            .ours
            .groups
            .list()
            .map(|(id, state)| format!("{id} share {} share", state.name()))
            .collect();
        self.points.same("list", kafka.join(", "), own.join(", "));
        format!("{} groups", own.len())
    }

    /// Compares the share partitions that have state.
    pub fn initialized(&mut self, group: &str) {
        let lists = self.ours.groups.state_partitions(group).unwrap_or_default();
        let own = lists.initialized.iter().flat_map(|(id, topic)| {
            let partitions = topic.partitions.iter();
            partitions.map(move |partition| (*id, *partition))
        });
        let kafka = assigned_json(&self.given["result"]);
        self.points
            .same("share partitions", kafka, assigned(&own.collect()));
    }
}

fn described(result: &Value) -> String {
    let members = result["members"].as_array().into_iter().flatten();
    let members: Vec<String> = members
        .map(|member| {
            let topics = member["topics"].as_array().into_iter().flatten();
            let topics: Vec<&str> = topics.filter_map(Value::as_str).collect();
            let mut by_id = serde_json::Map::new();
            for (topic, partitions) in member["assignment"].as_object().into_iter().flatten() {
                let id = topic.split(':').next().unwrap_or_default();
                by_id.insert(id.to_owned(), partitions.clone());
            }
            format!(
                "{} epoch {} rack {} client {} {} topics {} {}",
                member["member"].as_str().unwrap_or("?"),
                number(&member["epoch"]),
                member["rack"].as_str().unwrap_or("-"),
                member["client_id"].as_str().unwrap_or("?"),
                member["client_host"].as_str().unwrap_or("?"),
                topics.join(","),
                assigned_json(&by_id.into())
            )
        })
        .collect();
    format!(
        "{} epoch {} assignment {} {} {{{}}}",
        result["state"].as_str().unwrap_or("?"),
        number(&result["epoch"]),
        number(&result["assignment_epoch"]),
        result["assignor"].as_str().unwrap_or("?"),
        members.join("; ")
    )
}
