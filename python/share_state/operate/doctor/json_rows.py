"""The rows of `doctor` for machines: what `share_state/schemas/doctor-1.json` describes.

A new field keeps the version; one that goes, or changes its meaning, raises it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from share_state.operate.analysis.names import iso_8601

if TYPE_CHECKING:
    from share_state.operate.doctor.finding import Finding
    from share_state.operate.live.view import View

__all__ = ["DOCTOR_VERSION", "doctor_json"]

#: Version of the schema, which is in the rows and in the name of the schema's file.
DOCTOR_VERSION = 1


def doctor_json(view: View, finding: Finding) -> dict[str, object]:
    """Return one finding."""
    return {
        "schema_version": DOCTOR_VERSION,
        "at_timestamp": view.at_ms,
        "at_time": iso_8601(view.at_ms),
        "check": finding.check,
        "severity": finding.severity.value,
        "group": finding.group,
        "topic": finding.topic,
        "partition": finding.partition,
        "text": finding.text,
        "evidence": dict(finding.evidence),
        "advice": finding.advice,
        "commands": list(finding.commands),
    }
