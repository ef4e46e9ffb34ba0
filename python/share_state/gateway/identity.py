"""Who the gateway is: its cluster id, and its generation, which clients see as leader epoch.

The generation grows with each start and is on disk before anybody can connect. Clients ignore what comes with an older
leader epoch, so it must never go back: a directory that is new begins at the minutes since 2020, so that one that was lost
does not take it back.
"""

from __future__ import annotations

import time
import uuid
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from share_state.errors import StoreError
from share_state.gateway.files import read_json, write_json

__all__ = ["Identity"]

_FILE: Final = "identity.json"
_FORMAT: Final = 1
_YEAR_2020: Final = 1_577_836_800


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
        found = read_json(path)
        if found is None:
            cluster_id = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
            identity = cls(cluster_id, max(1, (int(time.time()) - _YEAR_2020) // 60))
        else:
            known, generation = found.get("clusterId"), found.get("generation")
            if found.get("format") != _FORMAT or not isinstance(known, str) or not isinstance(generation, int):
                raise StoreError(f"{path} has a format that this release does not know")
            identity = cls(known, generation + 1)
        write_json(path, {"format": _FORMAT, "clusterId": identity.cluster_id, "generation": identity.generation})
        return identity
