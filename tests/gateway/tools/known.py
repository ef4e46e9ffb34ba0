"""What a gateway's tools may print otherwise than a broker's, each with its reason."""

from __future__ import annotations

from tests.gateway.tools.compare import Known

#: Epochs of members and groups count the assignments that were made, and a gateway needs one fewer: it assigns on joining.
KNOWN: tuple[Known, ...] = (
    Known(
        r"--describe --group \S+ --(members|state) --verbose",
        r"^tools-sync .*$",
        r"^tools-sync .*$",
        "member and group epochs count assignments, and the gateway assigns on joining",
    ),
)
