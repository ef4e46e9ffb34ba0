"""The causes of trouble with share groups: anomalies and configuration, each finding with figures and the command that mends it.

:func:`examine` looks at a live view that is open. A check is a file in :mod:`share_state.operate.doctor.checks`: it reads
:class:`Facts` and yields findings, and asks nobody. It joins no group and changes nothing.
"""

from share_state.operate.doctor.examine import CHECKS, diagnose, examine
from share_state.operate.doctor.facts import Facts
from share_state.operate.doctor.finding import Finding
from share_state.operate.doctor.tools import Tools

__all__ = ["CHECKS", "Facts", "Finding", "Tools", "diagnose", "examine"]
