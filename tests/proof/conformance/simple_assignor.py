"""The ``simple_assignor*`` suite: which member of a share group is to consume which partitions.

Kafka numbers members and partitions in the order of its hash maps, so its answer differs from run to run and the recorded
one is only an example. Ours is judged by what every answer must have; with one member or none there is but one answer, and
then it must be the recorded one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from share_state.errors import UnknownPartitionError
from share_state.gateway import simple_assignment

from .recordings import FormatError, Json, Scenario, require
from .report import Difference, Outcome
from .skips import refuse_unplayable

_NOT_ASSIGNABLE = "not_assignable_"
_OPERATIONS = frozenset({"assign"})
_FIELDS = frozenset({"op", "subscription_type", "members", "topics", "result"})
_MEMBER_FIELDS = frozenset({"subscribed", "rack", "current"})
#: Partition number by which the recordings mean a topic that does not exist.
_UNKNOWN = -1

#: A topic id and a partition.
Partition = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Question:
    """Input of the assignor."""

    #: Topics of each member.
    subscribed: dict[str, frozenset[str]]
    #: Present assignment of each member.
    current: dict[str, frozenset[Partition]]
    #: Partitions that can be assigned, of each topic that exists.
    topics: dict[str, list[int]]

    def answer(self, current: Mapping[str, frozenset[Partition]] | None = None) -> dict[str, frozenset[Partition]]:
        """Answer of our assignor; with another current assignment if one is given."""
        held = self.current if current is None else current
        members = {
            member: (sorted(topics), [(topic, [partition]) for topic, partition in sorted(held[member])])
            for member, topics in self.subscribed.items()
        }
        answered = simple_assignment(members, list(self.topics.items()))
        return {member: frozenset(_pairs(dict(topics))) for member, topics in answered.items()}

    def spreads(self) -> list[tuple[list[str], list[Partition]]]:
        """Members with the partitions that are spread over them in one go: all at once when all have the same topics."""
        known = sorted({topic for topics in self.subscribed.values() for topic in topics})
        if len(set(self.subscribed.values())) == 1:
            return [(sorted(self.subscribed), [(topic, number) for topic in known for number in self.topics[topic]])]
        return [
            (
                sorted(member for member, topics in self.subscribed.items() if topic in topics),
                [(topic, number) for number in self.topics[topic]],
            )
            for topic in known
        ]


def run(scenario: Scenario) -> Outcome:
    """The questions of one scenario."""
    refuse_unplayable(scenario.ops, _OPERATIONS)
    outcome = Outcome(scenario.name)
    for index, op in enumerate(scenario.ops):

        def differ(what: str, expected: object, actual: object, index: int = index) -> None:
            outcome.differences.append(Difference(scenario.name, index, what, expected, actual))

        try:
            _judge(_question(op), op["result"], differ)
        except FormatError as error:
            differ("format", "known", str(error))
    return outcome


def _question(op: Json) -> Question:
    not_assignable = {name for name in op if name.startswith(_NOT_ASSIGNABLE)}
    require(op, _FIELDS | not_assignable, "the operation")
    if op.get("op") not in _OPERATIONS:
        raise FormatError(f"unknown operation {op.get('op')}")
    for member in op["members"].values():
        require(member, _MEMBER_FIELDS, "a member")
    return Question(
        subscribed={member: frozenset(said["subscribed"]) for member, said in op["members"].items()},
        current={member: frozenset(_pairs(said["current"])) for member, said in op["members"].items()},
        topics={
            topic: [number for number in range(count) if number not in op.get(_NOT_ASSIGNABLE + topic, ())]
            for topic, count in op["topics"].items()
            if count != _UNKNOWN
        },
    )


def _pairs(assigned: Mapping[str, Any]) -> set[Partition]:
    return {(topic, number) for topic, numbers in assigned.items() for number in numbers}


def _judge(question: Question, recorded: Json, differ: Callable[[str, object, object], None]) -> None:
    try:
        answer = question.answer()
    except UnknownPartitionError as error:
        if "error" not in recorded:
            differ("answer", recorded, error)
        return
    if "error" in recorded:
        differ("answer", recorded["error"], answer)
        return
    if len(question.subscribed) <= 1:
        # Who has nothing may be left out.
        expected = {member: frozenset(_pairs(recorded.get(member, {}))) for member in answer}
        if answer != expected:
            differ("the only answer", expected, answer)
    for member, held in answer.items():
        foreign = {partition for partition in held if partition[0] not in question.subscribed[member]}
        if foreign:
            differ(f"topics of {member}", question.subscribed[member], foreign)
    for members, partitions in question.spreads():
        _judge_spread(question, members, partitions, answer, differ)
    if question.answer() != answer:
        differ("the same question", answer, question.answer())
    if question.answer(answer) != answer:
        differ("the answer as current assignment", answer, question.answer(answer))


def _judge_spread(
    question: Question,
    members: list[str],
    partitions: list[Partition],
    answer: Mapping[str, frozenset[Partition]],
    differ: Callable[[str, object, object], None],
) -> None:
    assignable = set(partitions)
    topics = {topic for topic, _ in partitions}
    shares = {member: {held for held in answer[member] if held[0] in topics} for member in members}
    holders = Counter(held for share in shares.values() for held in share)
    # Members of a partition: one, unless there are more members than partitions.
    sharing = -(-len(members) // max(len(partitions), 1))
    for partition in partitions:
        if not 1 <= holders[partition] <= sharing:
            differ(f"members of {partition}", f"1 to {sharing}", holders[partition])
    if set(holders) - assignable:
        differ("assignable partitions", assignable, set(holders) - assignable)
    counts = sorted(len(share) for share in shares.values())
    if counts and counts[-1] - counts[0] > 1:
        differ("balance", "counts that differ by one at most", counts)
    _judge_moves(question, shares, assignable, sharing, differ)


def _judge_moves(
    question: Question,
    shares: Mapping[str, set[Partition]],
    assignable: set[Partition],
    sharing: int,
    differ: Callable[[str, object, object], None],
) -> None:
    """Members keep what they have as far as the balance allows."""
    had = {member: question.current[member] & assignable for member in shares}
    if any(count > sharing for count in Counter(held for share in had.values() for held in share).values()):
        return  # Who of too many gives a partition up is a matter of taste.
    least, more = divmod(sharing * len(assignable), len(shares))
    kept = 0
    for count in sorted((len(share) for share in had.values()), reverse=True):
        kept += min(count, least + (1 if more > 0 else 0))
        more -= 1
    actual = sum(len(had[member] & share) for member, share in shares.items())
    if actual != kept:
        differ("partitions that stay", kept, actual)
