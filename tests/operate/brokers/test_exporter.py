"""The exporter on real brokers, with share consumers that have been at work."""

from __future__ import annotations

import subprocess
import time

import pytest

from tests.kafka.broker import Broker
from tests.operate.brokers import DELIVERIES, RECORDS
from tests.operate.live.exporting import exporting, families, get, values
from tests.operate.live.prometheus import program

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


def test_it_tells_what_the_groups_did(broker: Broker) -> None:
    healthy, poisoned, gone = ("healthy", "orders", "0"), ("poisoned", "bad", "0"), ("gone", "orders", "0")
    with exporting(broker, "--refresh", "0.2") as address:
        until = time.monotonic() + 60
        # The locks of the member that vanished run out first.
        while not values(found := families(address), "share_group_released_records").get(gone):
            assert time.monotonic() < until
            time.sleep(0.1)
        text = get(f"{address}/metrics")[2]
    lags, ends = values(found, "share_group_lag_records"), values(found, "share_group_log_end_offset")
    assert [lags[place] for place in (healthy, poisoned, gone)] == [0, 1, RECORDS]
    assert [ends[place] for place in (healthy, poisoned, gone)] == [RECORDS, 1, RECORDS]
    health = values(found, "share_group_health")
    assert health[*healthy, "OK"] == health[*poisoned, "POISON"] == 1
    settled = values(found, "share_group_settled_records")
    assert (settled[*healthy, "accepted"], settled[*poisoned, "accepted"]) == (RECORDS, 0)
    assert values(found, "share_group_released_records")[poisoned] == DELIVERIES
    assert values(found, "share_group_delivered_records")[*poisoned, str(DELIVERIES)] == 1
    assert values(found, "share_group_redelivered_records")[poisoned] == 1
    assert values(found, "share_group_oldest_unsettled_seconds")[poisoned] > 0
    # Nothing is pruned yet, so the topic begins at 0; and it was read to its end.
    size, read = values(found, "share_state_topic_size_offsets"), values(found, "share_state_topic_read_offset")
    assert size == read
    assert sum(size.values()) > 0
    needed, redundant = values(found, "share_state_topic_needed_offset"), values(found, "share_state_topic_redundant_offsets")
    assert needed == redundant
    assert needed
    assert all(needed[place] <= size[place] for place in needed)
    assert values(found, "share_exporter_problems") == values(found, "share_exporter_failures") == {(): 0}
    checked = subprocess.run([program("promtool"), "check", "metrics"], input=text.encode(), capture_output=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")
