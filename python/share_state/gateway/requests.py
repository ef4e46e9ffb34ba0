"""Who asks: the client of a connection, and the checks that come before any other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from share_state.gateway.access import Access, Operation, Resource
from share_state.kafka.client.peers import Address
from share_state.kafka.logins import Login

__all__ = ["Client", "is_member_id"]

#: Characters of a member id (``ShareGroupHeartbeatRequest``: a UUID).
_MAX_MEMBER_ID: Final = 36


@dataclass(slots=True, eq=False)
class Client:
    """The other side of a connection.

    Attributes:
        connection_id: number of the connection; share sessions live on it.
        host: its address.
        here: where it has connected to.
        access: what principals may do.
        principal: who it is, such as ``User:alice``; ``User:ANONYMOUS`` without authentication.
        client_id: what it calls itself in the request at hand.
        software: name and version of its client, once it has told them.
        login: its authentication while that is not over; ``None`` for a client that is let in.
    """

    connection_id: int
    host: str
    here: Address
    access: Access
    principal: str = "User:ANONYMOUS"
    client_id: str = ""
    software: str = ""
    login: Login | None = None

    @property
    def is_refused(self) -> bool:
        """Whether its login has failed, so that its connection is to be closed."""
        return self.login is not None and self.login.failed

    def __str__(self) -> str:
        """Name the client for the log; each of these names comes from somebody else."""
        return f"client={self.client_id!r} host={self.host} principal={self.principal!r} software={self.software!r}"

    def may(self, operation: Operation, resource: Resource, name: str) -> bool:
        """Say whether this client may do something."""
        return self.access.allows(self.principal, operation, resource, name)

    def sees(self, topic: str) -> bool:
        """Say whether this client may learn anything of a topic; asked before every answer, wherever that comes from."""
        return self.may(Operation.DESCRIBE, Resource.TOPIC, topic)


def is_member_id(member: str | None) -> bool:
    """Say whether this can be the id of a member, as ``KafkaApis`` does for each request of one."""
    return bool(member) and len(member or "") <= _MAX_MEMBER_ID
