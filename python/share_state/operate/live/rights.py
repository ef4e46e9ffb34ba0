"""Rights that a principal lacks, in the words of Kafka's tools: an operation, a resource, a name."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Missing", "NotAllowedError", "Right"]


class Right(NamedTuple):
    """A right.

    Attributes:
        operation: ``DESCRIBE``, ``READ`` or ``DESCRIBE_CONFIGS``.
        resource: ``topic``, ``group`` or ``cluster``.
        name: of the resource; empty for the cluster.
        topic_id: of a topic whose name may not be known either, a hyphenated UUID.
    """

    operation: str
    resource: str
    name: str = ""
    topic_id: str = ""

    def __str__(self) -> str:
        """Name it for a person."""
        which = f"with the id {self.topic_id}" if self.topic_id else self.name
        return f"{self.operation} on the {self.resource} {which}".rstrip()


#: Rights that turned out to be missing; a question adds them, and answers for the rest.
Missing = set[Right]


class NotAllowedError(Exception):
    """A right is missing; it is the one argument."""

    @property
    def right(self) -> Right:
        """The right."""
        right: Right = self.args[0]
        return right
