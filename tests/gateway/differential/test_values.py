"""Values that no client means are answered by a gateway as by a broker, in every field of every version."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.gateway.differential import values
from tests.gateway.differential.duel import Duel
from tests.gateway.differential.known import KNOWN
from tests.gateway.differential.match import score
from tests.gateway.differential.test_known import PAGE
from tests.gateway.differential.topics import produce_batch
from tests.gateway.differential.view import View
from tests.gateway.process import GatewayProcess
from tests.gateway.records import create_topic
from tests.gateway.tools.compare import Side
from tests.gateway.upstreams import kraft
from tests.gateway.wire import Connection
from tests.gateway.wire.batches import batch

TOPIC, GROUP = "values", "group"
RECORDS, BATCH, TIME = 2000, 100, 1_700_000_000_000


def test_what_differs_is_on_the_page() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert [known.reason for known in values.KNOWN if known.reason not in text] == []


def test_every_field_is_changed_in_every_version() -> None:
    found = list(values.samples(TOPIC, GROUP))
    assert len({(name, version) for _, name, version, _ in found}) == 53
    assert len(found) > 2500
    # Of these a broker keeps nothing, so one sample does not change the next one.
    assert len({str(message.get("memberId")) for _, name, _, message in found if name == "ShareFetch"}) > 100


@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_a_gateway_answers_them_as_a_broker(tmp_path_factory: pytest.TempPathFactory) -> None:
    with ExitStack() as stack:
        upstream = stack.enter_context(kraft.without_share_groups(tmp_path_factory.mktemp("upstream")))
        settings = {**kraft.SHARE_SETTINGS, **kraft.PATIENT}
        gateway = stack.enter_context(GatewayProcess(tmp_path_factory.mktemp("gateway"), upstream.bootstrap, settings, "--relay"))
        model = stack.enter_context(kraft.with_share_groups(tmp_path_factory.mktemp("model"), kraft.PATIENT))
        for bootstrap in (upstream.bootstrap, model.bootstrap):
            create_topic(bootstrap, TOPIC, 2, configs={"retention.ms": "-1"})
            with Connection(bootstrap) as connection:
                for at in range(0, RECORDS, BATCH):
                    produce_batch(connection, TOPIC, 0, batch([b"x"] * BATCH, timestamp=TIME + at))
        views = View("real", Side.broker(model.bootstrap)), View("gateway", Side(gateway.bootstrap, upstream.bootstrap))
        duel = Duel(*views, (*KNOWN, *values.KNOWN, *values.OWN))
        for view in views:
            stack.callback(view.close_all)
        values.try_all(duel, TOPIC, GROUP)
        assert "Traceback" not in gateway.log()
    assert not duel.differences, score(duel)
    assert duel.compared > 2500
