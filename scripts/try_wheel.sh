#!/bin/sh
# Uses an installed wheel as a person would: the engine, a log on the disk, and the command line on a broker's state.
set -eu
share-state --version
python - <<'PYTHON'
import tempfile

import share_state as ss
from share_state.persister import initialize_if_absent, lead

key = ss.SharePartitionKey("workers", "5f3ff250-a9a1-4215-bb36-c84728fd60e8", 0)
with tempfile.TemporaryDirectory() as directory:
    for leader_epoch, start_offset in ((1, 0), (2, 5)):
        with ss.open(directory) as store:
            initialize_if_absent(store, key, state_epoch=1, start_offset=0)
            orders = lead(store, key, leader_epoch=leader_epoch, inline=True)
            assert orders.start_offset == start_offset, orders.start_offset
            orders.acquire("alice", [(start_offset, 9)], max_records=500, now_ms=0)
            orders.acknowledge("alice", start_offset, 4 + start_offset, ss.AcknowledgeType.ACCEPT, now_ms=5)
PYTHON
share-state state examples/orders-4.4.0 --group orders-workers --format jsonl
