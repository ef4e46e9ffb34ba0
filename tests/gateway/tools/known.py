"""Output of a gateway's tools that may differ from a broker's, each with its reason."""

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
    Known(
        r"--describe --group \S+ --offsets",
        r"^tools\S* tooled \d 0 0$",
        r"^tools\S* tooled \d 20 0$",
        "a broker shows the start offset that was written last, the gateway the one in memory, which is newer; the lag is one",
    ),
    Known(
        r"^kafka-consumer-groups --describe --group tools-sync$",
        r"Group tools-sync is not a consumer group",
        r"Group tools-sync not found",
        "share groups and ordinary groups of one name are different groups here, and upstream answers for the latter",
    ),
)
