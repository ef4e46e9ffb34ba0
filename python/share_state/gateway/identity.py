"""Who the gateway is: its cluster id, and its generation, which clients see as leader epoch.

The generation grows with each start and is on disk before anybody can connect. Clients ignore what comes with an older
leader epoch, so it must never go back: a directory that is new begins at the minutes since 2020, so that one that was lost does
not take it back, and one that is a copy goes on at the seconds, which no number of starts of what it is a copy of has reached.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from share_state.gateway.files import Content, read_json, whole, write_json

__all__ = ["Identity"]

_FILE: Final = "identity.json"
_LOG: Final = logging.getLogger("share_state.gateway")
_YEAR_2020: Final = 1_577_836_800
#: Kafka generates 22 characters, and accepts others.
_CLUSTER_ID: Final = re.compile("[ -~]{1,64}")
#: The next one is a leader epoch too, an int32.
_LAST: Final = (1 << 31) - 2


@dataclass(frozen=True, slots=True)
class Identity:
    """What the directory says of the gateway.

    Attributes:
        cluster_id: the cluster that clients see; it is the gateway's own and not that of the upstream.
        generation: number of this start; the leader epoch of every partition.
    """

    cluster_id: str
    generation: int

    @classmethod
    def next(cls, directory: Path) -> Identity:
        """Read the identity, count the generation on and make that durable.

        Raises:
            StoreError: the file is damaged, of another format, or cannot be written.
        """
        path = directory / _FILE
        found = read_json(path, _check, rewrites=False)
        seconds = int(time.time()) - _YEAR_2020
        if found is None:
            identity = cls(urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="), max(1, seconds // 60))
        else:
            written = found["generation"]
            identity = cls(found["clusterId"], written + 1)
            # Each start writes it as a new file, so that another inode is that of a copy.
            if found.get("inode", (inode := path.stat().st_ino)) != inode:
                identity = cls(identity.cluster_id, max(identity.generation, seconds))
                _LOG.warning(
                    "%s is a copy: the directory was moved, or an older backup was put back. Records that were finished after a "
                    "backup are delivered again. The generation was %d and is %d",
                    path,
                    written,
                    identity.generation,
                )
        write_json(path, {"clusterId": identity.cluster_id, "generation": identity.generation}, with_inode=True)
        return identity


def _check(content: Content, _is_checked: bool) -> None:
    if not {"clusterId", "generation"} <= content.keys() <= {"clusterId", "generation", "inode"}:
        message = f"expected clusterId and generation, got {', '.join(sorted(content))}"
        raise ValueError(message)
    known = content["clusterId"]
    if not isinstance(known, str) or not _CLUSTER_ID.fullmatch(known):
        message = f"clusterId is {known!r}; expected 1 to 64 printable characters of ASCII"
        raise ValueError(message)
    whole("generation", content["generation"], 1, _LAST)
    whole("inode", content.get("inode", 0), 0, 1 << 64)
