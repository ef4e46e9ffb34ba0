"""Answers about offsets: of share groups (described, altered, deleted), and of the log, whole and row by row."""

from __future__ import annotations

import pytest

from share_state.gateway import Operation, Resource, Rule
from tests.gateway.orchard import EARLY, IDS, LATE, ME, NO_ID, NOWHERE, PEARS, PLUMS, Orchard
from tests.gateway.wire.codec import Message

NOT_HOSTED = "This server does not host this topic-partition."
MALFORMED = "The request is malformed, or was sent to a server of another kind."
NOTHING_THERE = "There is no offset information to delete."
GROUPS = [Rule(ME, operation, Resource.GROUP, "*", False, True) for operation in (Operation.READ, Operation.DELETE)]
ONLY_PEARS = [Rule(ME, Operation.READ, Resource.TOPIC, PEARS, False, True)]


def describe(trees: Orchard, *groups: tuple[str, list[tuple[str, list[int]]] | None]) -> Message:
    rows = [
        {
            "groupId": group,
            "topics": None if topics is None else [{"topicName": name, "partitions": numbers} for name, numbers in topics],
        }
        for group, topics in groups
    ]
    # A request answers each group once.
    answers = [trees.ask("DescribeShareGroupOffsets", 1, {"groups": [row]}) for row in rows]
    return {"groups": [group for answer in answers for group in answer["groups"]]}


def alter(trees: Orchard, group: str, *topics: tuple[str, list[tuple[int, int]]]) -> Message:
    rows = [
        {"topicName": name, "partitions": [{"partitionIndex": number, "startOffset": offset} for number, offset in partitions]}
        for name, partitions in topics
    ]
    return trees.ask("AlterShareGroupOffsets", 0, {"groupId": group, "topics": rows})


def delete(trees: Orchard, group: str, *topics: str) -> Message:
    return trees.ask("DeleteShareGroupOffsets", 0, {"groupId": group, "topics": [{"topicName": name} for name in topics]})


def list_offsets(trees: Orchard, *topics: tuple[str, list[tuple[int, int]]], version: int = 7, isolation: int = 0) -> Message:
    rows = [
        {
            "name": name,
            "partitions": [{"partitionIndex": number, "timestamp": timestamp} for number, timestamp in partitions],
        }
        for name, partitions in topics
    ]
    level = {} if version == 1 else {"isolationLevel": isolation}
    return trees.ask("ListOffsets", version, {"replicaId": -1, "topics": rows, **level})


def told(number: int, start: int = -1, lag: int = -1, code: int = 0, message: str | None = None) -> Message:
    return {
        "partitionIndex": number,
        "startOffset": start,
        "leaderEpoch": 0,
        "lag": lag,
        "errorCode": code,
        "errorMessage": message,
    }


def group_row(group: str, topics: list[Message], code: int = 0) -> Message:
    return {"groupId": group, "topics": topics, "errorCode": code, "errorMessage": None}


def refused(code: int, message: str | None) -> Message:
    return {"errorCode": code, "errorMessage": message, "responses": []}


def test_a_group_that_there_is_not_has_partitions_without_state(trees: Orchard) -> None:
    answer = describe(trees, ("absent", [(PLUMS, [0, 7]), (NOWHERE, [0]), (PEARS, [0])]), ("absent", None))
    topics = [
        {"topicName": PLUMS, "topicId": IDS[PLUMS], "partitions": [told(0), told(7)]},
        {"topicName": NOWHERE, "topicId": NO_ID, "partitions": [told(0)]},
        {"topicName": PEARS, "topicId": IDS[PEARS], "partitions": [told(0)]},
    ]
    assert answer == {"groups": [group_row("absent", topics), group_row("absent", [])]}


def test_a_start_offset_of_minus_one_stands_for_the_configuration(trees: Orchard) -> None:
    for offset, start, lag in ((1, 1, 1), (-1, -1, -1)):
        row = alter(trees, "reset", (PEARS, [(0, offset)]))["responses"][0]["partitions"][0]
        assert row == {"partitionIndex": 0, "errorCode": 0, "errorMessage": None}
        (group,) = describe(trees, ("reset", None))["groups"]
        assert group["topics"][0]["partitions"] == [told(0, start, lag)]


def test_topics_that_are_named_twice_have_one_row(trees: Orchard) -> None:
    answer = alter(trees, "merged", (PEARS, [(0, 1)]), (PLUMS, [(0, 3)]), (NOWHERE, [(0, 1)]), (PEARS, [(0, 2), (7, 0)]))
    rows = [
        (row["topicName"], [(one["partitionIndex"], one["errorCode"]) for one in row["partitions"]])
        for row in answer["responses"]
    ]
    assert rows == [(PEARS, [(0, 0), (0, 0), (7, 3)]), (PLUMS, [(0, 0)]), (NOWHERE, [(0, 3)])]
    # The last one counts.
    (group,) = describe(trees, ("merged", [(PEARS, [0, 0]), (PLUMS, [0]), (PEARS, [0])]))["groups"]
    starts = [
        (row["topicName"], [(one["partitionIndex"], one["startOffset"]) for one in row["partitions"]]) for row in group["topics"]
    ]
    assert starts == [(PEARS, [(0, 2)]), (PLUMS, [(0, 3)])]
    gone = delete(trees, "merged", PEARS, NOWHERE, PEARS, PLUMS)["responses"]
    assert [(row["topicName"], row["errorCode"]) for row in gone] == [(PEARS, 0), (NOWHERE, 3), (PLUMS, 0)]


def test_a_partition_of_a_log_is_answered_once(trees: Orchard) -> None:
    asked = [(PEARS, [(0, -1), (9, -1)]), (PLUMS, [(1, -1), (1, -2)]), (PEARS, []), (NOWHERE, []), (PEARS, [(9, -2)])]
    answer = list_offsets(trees, *asked)
    rows = [
        (topic["name"], one["partitionIndex"], one["errorCode"], one["offset"])
        for topic in answer["topics"]
        for one in topic["partitions"]
    ]
    # Named twice is refused, named without a partition is not answered.
    assert rows == [(PEARS, 0, 0, 2), (PEARS, 9, 42, -1), (PLUMS, 1, 42, -1)]
    assert len(answer["topics"]) == 2


def test_offsets_are_altered_row_by_row_and_described_with_their_lag(trees: Orchard) -> None:
    answer = alter(trees, "altered", (NOWHERE, [(0, 1)]), (PLUMS, [(3, 0), (0, 3), (1, -2), (-1, 2), (2, 4)]), (PEARS, [(0, 0)]))
    rows = [(3, 3, NOT_HOSTED), (0, 0, None), (1, 42, MALFORMED), (-1, 3, NOT_HOSTED), (2, 0, None)]
    assert answer == {
        "errorCode": 0,
        "errorMessage": None,
        "responses": [
            {
                "topicName": NOWHERE,
                "topicId": NO_ID,
                "partitions": [{"partitionIndex": 0, "errorCode": 3, "errorMessage": NOT_HOSTED}],
            },
            {
                "topicName": PLUMS,
                "topicId": IDS[PLUMS],
                "partitions": [{"partitionIndex": n, "errorCode": code, "errorMessage": text} for n, code, text in rows],
            },
            {
                "topicName": PEARS,
                "topicId": IDS[PEARS],
                "partitions": [{"partitionIndex": 0, "errorCode": 0, "errorMessage": None}],
            },
        ],
    }
    # Of partition 2 nobody can tell the end: LEADER_NOT_AVAILABLE.
    settled = [
        {"topicName": PEARS, "topicId": IDS[PEARS], "partitions": [told(0, 0, 2)]},
        {"topicName": PLUMS, "topicId": IDS[PLUMS], "partitions": [told(0, 3, 7), told(2, 4, -1, 5)]},
    ]
    named = [
        {"topicName": PLUMS, "topicId": IDS[PLUMS], "partitions": [told(2, 4, -1, 5), told(1), told(0, 3, 7)]},
        {"topicName": NOWHERE, "topicId": NO_ID, "partitions": [told(0)]},
        {"topicName": PEARS, "topicId": IDS[PEARS], "partitions": [told(0, 0, 2)]},
    ]
    answer = describe(trees, ("altered", None), ("absent", None), ("altered", [(PLUMS, [2, 1, 0]), (NOWHERE, [0]), (PEARS, [0])]))
    assert answer == {"groups": [group_row("altered", settled), group_row("absent", []), group_row("altered", named)]}


def test_lag_is_no_part_of_the_first_version(trees: Orchard) -> None:
    alter(trees, "first-version", (PEARS, [(0, 1)]))
    answer = trees.ask("DescribeShareGroupOffsets", 0, {"groups": [{"groupId": "first-version", "topics": None}]})
    row = {"partitionIndex": 0, "startOffset": 1, "leaderEpoch": 0, "errorCode": 0, "errorMessage": None}
    topic = {"topicName": PEARS, "topicId": IDS[PEARS], "partitions": [row]}
    assert answer == {"groups": [group_row("first-version", [topic])]}


def test_offsets_are_altered_again(trees: Orchard) -> None:
    for offset, lag in ((9, 1), (10, 0), (2, 8)):
        assert alter(trees, "again", (PLUMS, [(0, offset)]))["errorCode"] == 0
        topic = {"topicName": PLUMS, "topicId": IDS[PLUMS], "partitions": [told(0, offset, lag)]}
        assert describe(trees, ("again", None)) == {"groups": [group_row("again", [topic])]}


def test_offsets_are_for_groups_without_members(trees: Orchard) -> None:
    trees.join("busy", [PEARS])
    assert alter(trees, "busy", (PEARS, [(0, 1)])) == refused(68, "The group is not empty.")
    assert delete(trees, "busy", PEARS) == refused(68, "The group is not empty.")
    topic = {"topicName": PEARS, "topicId": IDS[PEARS], "partitions": [told(0)]}
    assert describe(trees, ("busy", None)) == {"groups": [group_row("busy", [topic])]}


def test_no_group_is_without_a_name(trees: Orchard) -> None:
    assert alter(trees, "", (PEARS, [(0, 1)])) == refused(24, "The group id is invalid.")
    assert delete(trees, "", PEARS) == refused(24, "The group id is invalid.")


def test_groups_that_a_client_may_not_touch(trees: Orchard) -> None:
    with trees.rules.only(*ONLY_PEARS):
        assert alter(trees, "mine", (PEARS, [(0, 1)])) == refused(30, None)
        assert delete(trees, "mine", PEARS) == refused(30, None)
        assert describe(trees, ("mine", None)) == {"groups": [group_row("mine", [], 30)]}
    assert describe(trees, ("mine", None)) == {"groups": [group_row("mine", [])]}


def test_topics_that_a_client_may_not_touch(trees: Orchard) -> None:
    text = "Topic authorization failed."
    assert alter(trees, "half", (PLUMS, [(0, 1)]))["errorCode"] == 0
    with trees.rules.only(*GROUPS, *ONLY_PEARS):
        answer = alter(trees, "half", (PLUMS, [(0, 2), (1, 2)]), (PEARS, [(0, 1)]))
        assert [row["partitions"] for row in answer["responses"]] == [
            [{"partitionIndex": n, "errorCode": 29, "errorMessage": text} for n in (0, 1)],
            [{"partitionIndex": 0, "errorCode": 0, "errorMessage": None}],
        ]
        assert [row["topicId"] for row in answer["responses"]] == [NO_ID, IDS[PEARS]]
        # Those that are hidden come last, with neither an id nor an offset.
        topics = [
            {"topicName": PEARS, "topicId": IDS[PEARS], "partitions": [told(0, 1, 1)]},
            {"topicName": PLUMS, "topicId": NO_ID, "partitions": [told(n, code=29, message=text) for n in (0, 1)]},
        ]
        answer = describe(trees, ("half", [(PLUMS, [0, 1]), (PEARS, [0])]), ("half", None))
        assert answer == {"groups": [group_row("half", topics), group_row("half", topics[:1])]}
        assert delete(trees, "half", PLUMS, PEARS) == {
            "errorCode": 0,
            "errorMessage": None,
            "responses": [
                {"topicName": PLUMS, "topicId": NO_ID, "errorCode": 29, "errorMessage": text},
                {"topicName": PEARS, "topicId": IDS[PEARS], "errorCode": 0, "errorMessage": None},
            ],
        }
    topic = {"topicName": PLUMS, "topicId": IDS[PLUMS], "partitions": [told(0, 1, 9)]}
    assert describe(trees, ("half", None)) == {"groups": [group_row("half", [topic])]}


def test_offsets_are_deleted_by_topic(trees: Orchard) -> None:
    alter(trees, "beside", (PLUMS, [(0, 1)]))
    alter(trees, "deleted", (PLUMS, [(0, 1), (1, 1)]))
    assert delete(trees, "deleted", NOWHERE, PLUMS, PEARS) == {
        "errorCode": 0,
        "errorMessage": None,
        "responses": [
            {"topicName": NOWHERE, "topicId": NO_ID, "errorCode": 3, "errorMessage": NOT_HOSTED},
            {"topicName": PLUMS, "topicId": IDS[PLUMS], "errorCode": 0, "errorMessage": None},
            {"topicName": PEARS, "topicId": NO_ID, "errorCode": 3, "errorMessage": NOTHING_THERE},
        ],
    }
    left = [
        {"topicName": PLUMS, "topicId": IDS[PLUMS], "partitions": [told(0), told(1)]},
        {"topicName": PEARS, "topicId": IDS[PEARS], "partitions": [told(0)]},
    ]
    beside = {"topicName": PLUMS, "topicId": IDS[PLUMS], "partitions": [told(0, 1, 9)]}
    answer = describe(trees, ("deleted", [(PLUMS, [0, 1]), (PEARS, [0])]), ("deleted", None), ("beside", None))
    assert answer == {"groups": [group_row("deleted", left), group_row("deleted", []), group_row("beside", [beside])]}
    # The group is still there; that there was never one of this name is another answer.
    assert delete(trees, "deleted", PLUMS)["responses"] == [
        {"topicName": PLUMS, "topicId": NO_ID, "errorCode": 3, "errorMessage": NOTHING_THERE}
    ]
    assert delete(trees, "never", PLUMS) == refused(69, "Group never not found.")


def test_offsets_of_the_log(trees: Orchard) -> None:
    def listed(number: int, code: int, offset: int = -1, timestamp: int = -1) -> Message:
        return {"partitionIndex": number, "errorCode": code, "timestamp": timestamp, "offset": offset, "leaderEpoch": -1}

    asked = [(0, EARLY + 1), (1, -1), (3, -1), (2, -1), (-1, -1)]
    answer = list_offsets(trees, (PEARS, [(0, -2)]), (NOWHERE, [(0, -1)]), (PLUMS, asked))
    assert answer == {
        "topics": [
            {"name": PEARS, "partitions": [listed(0, 0, 0)]},
            {"name": NOWHERE, "partitions": [listed(0, 3)]},
            {
                "name": PLUMS,
                "partitions": [listed(0, 0, 4, LATE), listed(1, 0, 5), listed(3, 3), listed(2, 5), listed(-1, 3)],
            },
        ]
    }


@pytest.mark.parametrize(
    ("timestamp", "found"),
    [(-1, (10, -1)), (-2, (0, -1)), (0, (0, EARLY)), (EARLY, (0, EARLY)), (LATE, (4, LATE)), (LATE + 1, (-1, -1))],
)
def test_the_first_record_from_a_moment_on(trees: Orchard, timestamp: int, found: tuple[int, int]) -> None:
    for version in range(1, 8):
        ((row,),) = (one["partitions"] for one in list_offsets(trees, (PLUMS, [(0, timestamp)]), version=version)["topics"])
        assert (row["errorCode"], row["offset"], row["timestamp"]) == (0, *found)
        assert row.get("leaderEpoch") == (-1 if version >= 4 else None)


def test_the_end_of_a_log_depends_on_the_isolation(trees: Orchard) -> None:
    def end(version: int, isolation: int) -> int:
        (topic,) = list_offsets(trees, (PLUMS, [(1, -1)]), version=version, isolation=isolation)["topics"]
        return int(topic["partitions"][0]["offset"])

    # The transaction is open: none of its records is committed.
    assert [end(version, isolation) for version, isolation in ((1, 0), (2, 0), (2, 1), (7, 0), (7, 1))] == [5, 5, 0, 5, 0]


def test_offsets_of_a_log_that_is_hidden(trees: Orchard) -> None:
    with trees.rules.only(*ONLY_PEARS):
        answer = list_offsets(trees, (PLUMS, [(0, -1), (7, -1)]), (PEARS, [(0, -1)]))
    rows = [[(row["partitionIndex"], row["errorCode"], row["offset"]) for row in one["partitions"]] for one in answer["topics"]]
    assert rows == [[(0, 29, -1), (7, 29, -1)], [(0, 0, 2)]]
