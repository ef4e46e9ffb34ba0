"""Records of a broker's state topic."""

from __future__ import annotations

from pathlib import Path

from share_state import decode_record, encode_record, fold_path, scan_path

RECORDED = Path(__file__).resolve().parents[2] / "examples" / "orders-4.4.0"


class Records:
    def setup(self) -> None:
        self.records = [(key, value) for *_, key, value in scan_path(RECORDED)]
        self.decoded = [decode_record(key, value) for key, value in self.records]
        assert self.decoded

    def time_decode(self) -> None:
        for key, value in self.records:
            decode_record(key, value)

    def time_encode(self) -> None:
        for record in self.decoded:
            encode_record(record)

    def time_fold_a_directory(self) -> None:
        states, findings = fold_path(RECORDED)
        assert states
        assert not findings
