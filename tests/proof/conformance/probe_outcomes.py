"""Our documented outcome of each probe in which we differ from Kafka on purpose.

The probes record what Kafka does where it breaks its own rules (K) or is handed bad input below its RPC layer (E,
some of them listed as V). For each such probe the table says which operations have another outcome with us, as
replacements of the recorded fields; everything not replaced is compared as recorded. A field replaced by ``None`` is
taken out, an operation replaced by ``None`` is not asked at all.
"""

from __future__ import annotations

from typing import Any

from .recordings import Json

Patch = dict[str, Any]

#: Refused before anything changes: the state stays as it was and nothing is written.
_REFUSED: Patch = {
    "expect": {"result": {"error": "InvalidRequestException"}},
    "state": None,
    "persister_writes": None,
}
_NOTHING_ACQUIRED: Patch = {"expect": {"acquired": [], "count": 0}}


def _state(start: int, end: int, delivery_complete_count: int, *batches: Any, gap: int | None = None) -> Patch:
    """The state of an active share partition with state epoch 0."""
    state: Json = {
        "status": "ACTIVE",
        "start_offset": start,
        "end_offset": end,
        "state_epoch": 0,
        "delivery_complete_count": delivery_complete_count,
        "batches": list(batches),
    }
    if gap is not None:
        state["read_gap_window"] = [gap, end]
    return {"state": state}


def _answer(result: object) -> Patch:
    return {"expect": {"result": result}}


def _corrupt(operations_after: int) -> dict[int, Patch | None]:
    """The read result is refused whole; a failed share partition is not asked for anything."""
    failed: Patch = {
        "expect": {"result": {"error": "IllegalStateException"}},
        "state": _state(0, 0, 0)["state"] | {"status": "FAILED"},
    }
    after = dict.fromkeys(range(2, 2 + operations_after))
    return {1: failed, **after}


def _stable(first: int, last: int, state: str) -> list[Any]:
    return [first, last, state, 1, "", False, False]


def _held(first: int, last: int, member: str) -> list[Any]:
    return [first, last, "ACQUIRED", 1, member, True, False]


_K5B_TAIL = [
    _stable(7, 7, "ARCHIVED"),
    _stable(10, 36, "ARCHIVED"),
]

OUTCOMES: dict[str, dict[int, Patch | None]] = {
    # K1: the start offset never goes back, on no path.
    "K1_spso_regresses_after_lso_passes_acquired_batch_then_release": {
        4: _state(6, 6, 0),
        5: _answer(6),
    },
    "K1b_same_via_lock_timeout": {4: _state(6, 6, 0), 5: _answer(6)},
    # K2: the gap window is cut to the start offset when the log start moves.
    "K2_stuck_read_gap_behind_lso": {4: _answer(2), 6: _answer(2), 9: _answer(9)},
    # K3: a split keeps the pending change, so 3-9 stay unavailable until the write is answered.
    "K3_lso_splits_batch_with_pending_release": {
        4: _state(3, 9, 0, [3, 9, "AVAILABLE", 1, "", False, True]),
        5: _answer(10),
        6: _NOTHING_ACQUIRED | {"state": None},
        7: _answer(10),
        8: _state(3, 9, 0, _stable(3, 9, "AVAILABLE")),
        9: _answer(3),
        10: {"lock_timeouts_fired": [], "expect": {"result": False}, "state": None},
        11: _answer(3),
    },
    # K4: at capacity nothing is acquired; what compaction removed is archived all the same.
    "K4_acquire_at_capacity_after_compaction_throws": {7: _NOTHING_ACQUIRED},
    "K4_reachable_sequence_throws": {14: _NOTHING_ACQUIRED},
    # K5: the delivery complete count is the terminal offsets from the start offset on.
    "K5b_delivery_complete_count_negative_read_gap": {
        4: _state(7, 36, 28, *_K5B_TAIL, gap=7),
        5: _state(18, 36, 19, *_K5B_TAIL, gap=18),
        6: _answer(37),
        7: _state(18, 38, 19, *_K5B_TAIL, _held(37, 38, "m3")),
        8: _state(37, 38, 0, _stable(37, 38, "AVAILABLE"))
        | {
            "lock_timeouts_fired": [
                {
                    "member": "m3",
                    "first": 37,
                    "last": 38,
                    "persister_writes": [
                        {
                            "leader_epoch": 0,
                            "state_epoch": 0,
                            "start_offset": 18,
                            "delivery_complete_count": 19,
                            "batches": [[37, 38, 0, 1]],
                            "result": "error_code 0",
                        }
                    ],
                }
            ]
        },
    },
    # K6: nothing is acquired below the start offset.
    "K6_acquire_below_spso_when_older_batch_cached": {
        5: {"expect": {"acquired": [[8, 12, 1]], "count": 5}} | _state(8, 12, 0, _held(0, 4, "m1"), _held(8, 12, "m2")),
    },
    # V2, V5: neither one type nor one for each offset. V6: negative. The rest of bad input D2.
    "E1_ack_empty_types": {3: _REFUSED},
    "E2_ack_wrong_types_len": {3: _REFUSED},
    "E4_ack_inverted": {3: _REFUSED},
    "E5_ack_negative": {3: _REFUSED},
    "E9_ack_descending_batches": {3: _REFUSED},
    "E25_ack_4k_types_on_small_batch": {3: _REFUSED},
    # V3: a persisted state that breaks its own rules is refused whole.
    "E17_init_overlapping_batches": _corrupt(1),
    "E20_init_state_acquired_id1": _corrupt(1),
    "E21_init_negative_start": _corrupt(1),
    "E22_init_delivery_count_negative_or_over_max": _corrupt(2),
    # V4: a batch size that is not positive.
    "E24_acquire_max_fetch_zero_or_negative": {4: _REFUSED},
}

#: Probes compared only up to here: Kafka goes wrong there and its later operations rest on that. Our invariants are
#: asked for to the end.
COMPARED_UP_TO = {"K5_reachable_sequence_dcc_negative": 34}

#: Probes in which we agree with Kafka: compared as recorded.
AGREED_PREFIXES = ("control_",)
AGREED = frozenset(
    {
        "E3_ack_unknown_type",
        "E6_ack_i64max",
        "E7_ack_beyond_end",
        "E8_ack_overlapping_batches",
        "E10_ack_not_acquired",
        "E11_ack_other_member",
        "E12_double_ack",
        "E13_partial_failure_rolls_back_whole_request",
        "E14_ack_below_spso_is_ignored",
        "E15_init_inverted_batch",
        "E16_init_batch_below_start",
        "E18_init_unsorted_batches",
        "E19_init_unknown_state_id",
        "E23_lso_backwards",
        "E26_renew_then_timeout",
        "E27_max_delivery_last_release_archives",
    }
)
