"""Finding of a check, with its figures and what mends it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from share_state.operate.analysis.anomaly import Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from share_state.operate.live.view import SharePartitionView

__all__ = ["Figure", "Finding"]

#: Types of evidence.
Figure = int | float | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A finding.

    Attributes:
        check: the name of the check.
        severity: how soon somebody should look.
        text: what is wrong, with the figures that matter, in a sentence without its full stop.
        advice: what to do, and what to know before.
        group, topic, partition: what it is about; None for all of them. A topic without a name is named by its id.
        evidence: figures by name, for a program.
        commands: Kafka's commands that mend it, in order; empty where none does.
    """

    check: str
    severity: Severity
    text: str
    advice: str
    group: str | None = None
    topic: str | None = None
    partition: int | None = None
    evidence: Mapping[str, Figure] = field(default_factory=dict)
    commands: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        one: SharePartitionView,
        check: str,
        severity: Severity,
        text: str,
        advice: str,
        *,
        commands: tuple[str, ...] = (),
        **evidence: Figure,
    ) -> Self:
        """Make a finding about a share partition."""
        return cls(
            check=check,
            severity=severity,
            text=text,
            advice=advice,
            group=one.group,
            topic=one.topic or one.topic_id,
            partition=one.partition,
            evidence=evidence,
            commands=commands,
        )
