"""Records in doubt: what the target tells of them, and what becomes of those that it cannot tell of."""

from __future__ import annotations

from pathlib import Path

import pytest

from share_state.operate.dead_letters import Doubt, InDoubtError, Journal, Place, resolve
from share_state.operate.dead_letters.redriven_from import header
from tests.operate.dead_letters.fake_target import BORN, IDENTITY, Topics, payload, sources

FIRST, SECOND = Place("orders", 0, 0), Place("orders", 0, 1)


def in_doubt(path: Path, topics: Topics, *sent: Place) -> Journal:
    """A journal with two records in doubt, some of which are in the target."""
    journal = Journal(path, IDENTITY, lambda: BORN)
    journal.ends("retry", {0: len(topics.logs["retry"][0])})
    journal.sending([FIRST, SECOND])
    for place in sent:
        mark = header(place, IDENTITY.group, journal.state.journal_id)
        topics.logs["retry"][0].append(payload(place.partition, place.offset)._replace(headers=(mark,)))
    return journal


def test_the_target_tells(tmp_path: Path) -> None:
    topics = sources(3)
    # Of an earlier redrive, by another journal: it does not count.
    mark = header(SECOND, IDENTITY.group, "another")
    topics.logs["retry"][0] += [payload(0, 1)._replace(headers=(mark,)), None]
    with in_doubt(tmp_path / "journal", topics, FIRST) as journal:
        topics.logs["retry"][0].append(payload(0, 1)._replace(headers=(mark,)))
        assert [(one.place, one.offset) for one in resolve(journal, topics)] == [(FIRST, 2)]
        assert (journal.state.sent, journal.state.in_doubt) == ({("orders", 0): {0}}, set())
        assert resolve(journal, topics) == []


def test_only_the_tail_is_read(tmp_path: Path) -> None:
    topics = sources(3)
    topics.logs["retry"][0] += [payload(0, 2)] * 50
    with in_doubt(tmp_path / "journal", topics, FIRST, SECOND) as journal:
        read: list[int] = []
        records = topics.records

        def counted(*place: object) -> object:
            for record in records(*place):  # type: ignore[arg-type]
                read.append(record.offset)
                yield record

        topics.records = counted  # type: ignore[method-assign, assignment]
        assert len(resolve(journal, topics)) == 2
    assert read == [50, 51]


@pytest.mark.parametrize(
    ("doubt", "sent"), [(None, None), (Doubt.SKIP, {("orders", 0): {0, 1}}), (Doubt.SEND, {("orders", 0): {0}})]
)
def test_where_it_cannot_tell_somebody_decides(tmp_path: Path, doubt: Doubt | None, sent: dict[object, object] | None) -> None:
    topics = sources(3)
    topics.logs["retry"][0] += [payload(0, 2)] * 3
    with in_doubt(tmp_path / "journal", topics, FIRST) as journal:
        # A record has come after the place where it ended, and is gone: it may have been the other one.
        topics.logs["retry"][0].insert(3, payload(0, 2))
        topics.starts["retry"] = 4
        if doubt is None:
            content = (tmp_path / "journal").read_bytes()
            with pytest.raises(InDoubtError, match="retry-0 has offsets 4 to 4, and 3 is needed") as raised:
                resolve(journal, topics)
            assert raised.value.places == (SECOND,)
            assert (tmp_path / "journal").read_bytes() == content
        else:
            assert [one.place for one in resolve(journal, topics, doubt)] == [FIRST]
            assert (journal.state.sent, journal.state.in_doubt) == (sent, set())


def test_where_all_are_found_a_shorter_target_does_not_matter(tmp_path: Path) -> None:
    topics = sources(3)
    topics.logs["retry"][0] += [payload(0, 2)]
    with in_doubt(tmp_path / "journal", topics) as journal:
        topics.logs["retry"][0] += [None]
        mark = [header(place, IDENTITY.group, journal.state.journal_id) for place in (FIRST, SECOND)]
        topics.logs["retry"][0] += [payload(0, 0)._replace(headers=(one,)) for one in mark]
        topics.starts["retry"] = 2
        assert len(resolve(journal, topics)) == 2


def test_a_target_that_is_gone_tells_nothing(tmp_path: Path) -> None:
    topics = sources(3)
    with in_doubt(tmp_path / "journal", topics, FIRST, SECOND) as journal:
        del topics.logs["retry"]
        with pytest.raises(InDoubtError, match=r"orders-0 offset 0 and 1 more, .* topic retry is not in the cluster any more"):
            resolve(journal, topics)


def test_a_partition_that_was_added_is_read_from_its_begin(tmp_path: Path) -> None:
    topics = sources(3)
    with in_doubt(tmp_path / "journal", topics) as journal:
        mark = header(SECOND, IDENTITY.group, journal.state.journal_id)
        topics.logs["retry"].append([payload(0, 1)._replace(headers=(mark,))])
        assert [(one.place, one.partition) for one in resolve(journal, topics)] == [(SECOND, 1)]
