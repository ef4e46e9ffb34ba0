"""A gateway that kills itself at the n-th point of its writes: ``python -m tests.gateway.faults.dying``.

There is one point before and one after every call that appends to a log, syncs it, or replaces a small file. A line of standard
input, ``{"upstream": …, "path": …, "point": n}``, forks a gateway; its first line of output says where it listens, the last that
it has ended, and whether a point was its end (SIGKILL).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Self

from share_state._core import ShareGroupStore, StateStore
from share_state.gateway import GatewayOptions, ShareGateway, data_plane, group_configs, identity, stores
from share_state.gateway.upstream import topics
from share_state.kafka.client.peers import parse_bootstrap

#: Calls that append, or wait for a sync.
STATES = frozenset({
    "reset_state", "reset_states", "read_state", "read_states", "write_state", "write_states", "delete_states",
    "topics_deleted",
})  # fmt: skip
GROUPS = frozenset({
    "heartbeat", "wait", "handle_timeout", "begin_delete_group", "finish_delete_group", "begin_alter_offsets",
    "finish_alter_offsets", "begin_delete_offsets", "finish_delete_offsets", "topics_deleted",
})  # fmt: skip
_GRACE_S = 0.03


class Points:
    """Counts the points, and dies at one of them."""

    def __init__(self, last: int) -> None:
        self._left = last
        self._lock = threading.Lock()

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call with a point before and one after it."""

        @wraps(call)
        def watched(*args: Any, **kwargs: Any) -> Any:
            self._pass()
            found = call(*args, **kwargs)
            self._pass()
            return found

        return watched

    def _pass(self) -> None:
        with self._lock:
            if self._left == 0:
                # An answer that does not wait for what is being written gets out, and is found to have lied.
                time.sleep(_GRACE_S)
                os.kill(os.getpid(), signal.SIGKILL)
            self._left -= 1


class Watched:
    """A store of which some calls are watched."""

    def __init__(self, store: Any, calls: frozenset[str], points: Points) -> None:
        self._store = self.watched = store
        for name in calls:
            setattr(self, name, points.around(getattr(store, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def __enter__(self) -> Self:
        self._store.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._store.__exit__(*raised)


def watch(points: Points) -> None:
    """Have everything that a gateway writes pass the points."""

    def states(*args: Any, **kwargs: Any) -> Watched:
        return Watched(StateStore(*args, **kwargs), STATES, points)

    def groups(*args: Any, **kwargs: Any) -> Watched:
        return Watched(ShareGroupStore(*args, **kwargs), GROUPS, points)

    for name, watched in (("StateStore", states), ("ShareGroupStore", groups)):
        setattr(stores, name, watched)
    data_plane.write = points.around(lambda taken, store: taken.write(store.watched))
    for module in (topics, group_configs, identity):
        module.write_json = points.around(module.write_json)  # type: ignore[attr-defined]


def tell(line: str) -> None:
    """Write a line at once: two processes write, and print may write the end of the line by itself."""
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


async def serve(upstream: str, path: str) -> None:
    """Be a gateway until somebody kills it."""
    options = GatewayOptions(
        upstream=tuple(parse_bootstrap(upstream)), path=Path(path), groups={"share.auto.offset.reset": "earliest"}
    )
    async with ShareGateway(options) as serving:
        tell(serving.bootstrap_servers)
        await asyncio.Event().wait()


def main() -> None:
    """Fork one gateway after the other: importing takes longer than serving."""
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            watch(Points(asked["point"]))
            asyncio.run(serve(asked["upstream"], asked["path"]))
            os._exit(0)
        tell(json.dumps({"pid": child}))
        _, status = os.waitpid(child, 0)
        tell(json.dumps({"ended": os.WTERMSIG(status) if os.WIFSIGNALED(status) else -1}))


if __name__ == "__main__":
    main()
