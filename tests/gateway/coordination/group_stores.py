"""Stand-ins for the stores of groups and states, which tell in what order they are asked, and on which threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

from share_state.errors import StoreError
from share_state.gateway.counts import Counts
from share_state.gateway.groups import Groups
from share_state.gateway.net import Net
from share_state.gateway.upstream.topics import Topic
from share_state.kafka.client.peers import LostError
from share_state.types import HeartbeatAnswer

Call = tuple[Any, ...]


class Stores:
    """The groups, their states, and upstream: what each is told, in order, and what a test has them answer."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.threads: set[str] = set()
        #: Tickets that are on the disk, and those that never will be.
        self.durable: set[int] = set()
        self.lost: set[int] = set()
        self.wanted: list[tuple[str, int, int, int]] = []
        self.outcomes: list[Any] = []
        self.begun: tuple[int, list[tuple[str, int]], int] = (0, [("t", 0), ("t", 1), ("u", 0)], 7)
        self.deadline: int | None = None
        self.expired: tuple[list[tuple[str, str]], int] = ([], 0)
        self.topics: dict[str, Topic] = {}
        self.executor = ThreadPoolExecutor(1, thread_name_prefix="disk")

    def groups(self) -> Groups:
        store = SimpleNamespace(
            is_durable=self.durable.__contains__,
            wait=self._wait,
            to_initialize=lambda **asked: self._told("to_initialize", asked, self.wanted),
            heartbeat=lambda **asked: self._told("heartbeat", asked, HeartbeatAnswer(0, None, 3, 500, [("t", [1])], 9)),
            begin_delete_group=lambda group, *, wall_ms: self._told("begin", (group, wall_ms), self.begun),
            finish_delete_group=lambda group, *, wall_ms: self._told("finish", (group, wall_ms), 8),
            topics_deleted=lambda ids, *, wall_ms: self._told("topics", (ids, wall_ms), 6),
            poll_timeout=lambda: self.deadline,
            handle_timeout=lambda *, now_ms, wall_ms: self._told("timeout", (now_ms, wall_ms), self.expired),
        )
        states = SimpleNamespace(
            reset_states=lambda requests: self._slow("initialize", requests),
            delete_states=lambda keys: self._slow("delete", keys),
            topics_deleted=lambda ids: self._slow("forget", ids),
        )
        plane = SimpleNamespace(
            states_changed=lambda topics: self._told("drop", topics, None),
            topic_deleted=lambda topic_id: self._told("drop topic", topic_id, None),
        )
        upstream = SimpleNamespace(known_by_name=self.topics.get, topics=self._topics)
        return Groups(
            cast("Any", store), cast("Any", states), self.executor, cast("Any", upstream), cast("Any", plane), net=Net(Counts())
        )

    def _told(self, name: str, asked: Any, answer: Any) -> Any:
        self.calls.append((name, asked))
        return answer

    def _slow(self, name: str, asked: Any) -> list[Any]:
        self.threads.add(threading.current_thread().name)
        self.calls.append((name, asked))
        return self.outcomes

    def _wait(self, ticket: int) -> None:
        self.threads.add(threading.current_thread().name)
        self.calls.append(("wait", ticket))
        if ticket in self.lost:
            raise StoreError("the disk is full")

    async def _topics(self, names: list[str]) -> None:
        self.calls.append(("upstream", names))
        raise LostError("broker 1", "gone", code=13, sent=False)
