"""Server as the client of the differential sees it, one of two."""

from __future__ import annotations

from tests.gateway.tools.compare import Side
from tests.gateway.wire import Connection, api_key

NO_ID = "00000000-0000-0000-0000-000000000000"


class View:
    """State that is this server's own: ids, epochs, connections. All else is the same on both, and lives in the model."""

    def __init__(self, name: str, side: Side) -> None:
        self.name = name
        self.side = side
        self.topic_ids: dict[str, str] = {}
        self.topic_names: dict[str, str] = {}
        #: The epoch that the next request of a member's session has.
        self.session_epochs: dict[str, int] = {}
        #: The epoch of a member in its group, as last answered.
        self.member_epochs: dict[str, int] = {}
        self._connections: dict[str, Connection] = {}
        self._offered: set[int] | None = None

    def learn_topics(self, names: list[str]) -> None:
        """Ask for the ids of topics."""
        answer = self.connection("topics").ask("Metadata", 12, {"topics": [{"name": name} for name in names]})
        for topic in answer["topics"]:
            assert topic["errorCode"] == 0, topic
            self.topic_ids[topic["name"]] = topic["topicId"]
            self.topic_names[topic["topicId"]] = topic["name"]

    def offers(self, name: str) -> bool:
        """Returns true if it lists the requests of this name."""
        if self._offered is None:
            self._offered = set(self.connection("topics").offered())
        return api_key(name) in self._offered

    def topic_id(self, name: str) -> str:
        """A topic's id here; a name that is an id already stands for a topic that is not there."""
        return self.topic_ids.get(name, name)

    def connection(self, name: str) -> Connection:
        """The connection of this name, opened when it is first used."""
        if name not in self._connections:
            self._connections[name] = Connection(self.side.share, name)
        return self._connections[name]

    def close(self, name: str) -> None:
        """End a connection."""
        if (connection := self._connections.pop(name, None)) is not None:
            connection.close()

    def close_all(self) -> None:
        """End all connections, and forget what belonged to them."""
        for name in list(self._connections):
            self.close(name)
        self.session_epochs.clear()
        self.member_epochs.clear()
