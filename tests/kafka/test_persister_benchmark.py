"""The benchmark of the persisters still runs, and measures what it says: not how fast."""

from __future__ import annotations

import pytest

from benches.persister.run import WRITES, against, table

from . import broker


@pytest.mark.kafka
@pytest.mark.timeout(300)
def test_three_persisters_at_three_concurrencies(kafka_440: broker.Broker) -> None:
    figures = against(kafka_440, rounds=2, scale=0.01)
    assert [(figure.concurrency, figure.persister) for figure in figures] == [
        (concurrency, name)
        for concurrency in WRITES
        for name in ("AsyncKafkaPersister", "KafkaPersister", "DefaultStatePersister")
    ]
    for figure in figures:
        assert figure.writes == 2 * max(figure.concurrency, int(WRITES[figure.concurrency] * 0.01))
        # One at a time nothing can be folded; the requests of both sides are counted alike.
        assert figure.requests == figure.writes if figure.concurrency == 1 else 0 < figure.requests <= figure.writes
        assert 0 < figure.p50_us <= figure.p99_us <= figure.max_us
        assert figure.slowest <= figure.per_second <= figure.fastest
        assert figure.client_cpu_us > 0
    assert len(table(figures).splitlines()) == 2 + len(figures)
