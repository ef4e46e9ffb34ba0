"""The one record that a state comes to."""

from __future__ import annotations

from typing import Any

import pytest

import share_state as ss
from share_state import _core

TOPIC = "00010203-0405-0607-0809-0a0b0c0d0e0f"


@pytest.mark.parametrize("incomplete", [False, True])
def test_the_record_of_a_state_folds_to_it(*, incomplete: bool) -> None:
    batches = [(10, 12, 0, 1), (13, 20, 2, 3)]
    told: dict[str, Any] = {
        "snapshot_epoch": 4,
        "leader_epoch": 6,
        "start_offset": 10,
        "delivery_complete_count": 8,
        "incomplete": incomplete,
    }
    # An update tells no state epoch.
    told["state_epoch"] = 0 if incomplete else 5
    key, value = _core.encode_state(("g", TOPIC, 2), batches, **told)
    assert ss.decode_record(key, value)["key"]["type"] == ("1" if incomplete else "0")
    coordinator = ss.ShareCoordinator()
    coordinator.replay(0, key, value)
    [state] = coordinator.states()
    assert {name: state[name] for name in told} == told
    assert (state["group"], state["topic_id"], state["partition"]) == ("g", TOPIC, 2)
    assert [tuple(batch) for batch in state["batches"]] == batches
