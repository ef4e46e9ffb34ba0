"""Logins at a real broker, accepted and refused, by every way; and what is told when a connection ends half-way."""

from __future__ import annotations

import itertools
import ssl
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
import trustme

import share_state as ss
from share_state.kafka import (
    AuthenticationFailedError,
    BadAnswerError,
    BrokerUnreachableError,
    KafkaPersister,
    KafkaPersisterError,
    NotAuthorizedError,
    OAuthBearer,
    OutcomeUnknownError,
    Plain,
    Scram,
    SecurityOptions,
    UnknownTopicError,
)
from share_state.kafka.client.security import Mechanism
from share_state.kafka.clock import RetryPolicy
from share_state.kafka.shown_key import shown_key
from tests.kafka import home
from tests.kafka.listeners import ACTOR, BEARER, CLERK, LEADER, SCRAM_USER, USERS, Authority, token
from tests.kafka.proxy import Cut, Proxy
from tests.kafka.real_broker import RealBroker
from tests.kafka.scripted import WRITE

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(600)]

ONCE = RetryPolicy(attempts=1)
QUICK = RetryPolicy(initial_seconds=0.1, maximum_seconds=0.5)


class Way(NamedTuple):
    """A way in: the listener, the certificate shown, and the mechanism."""

    listener: str
    mechanism: Callable[[], Mechanism] | None = None
    certificate: str | None = None

    def security(self, authority: Authority) -> SecurityOptions:
        context = authority.context(self.certificate)
        return SecurityOptions(ssl_context=context, sasl=self.mechanism() if self.mechanism else None)


def sasl(mechanism: Callable[[], Mechanism]) -> Way:
    return Way("secured", mechanism)


ADMITTED = {
    "PLAIN": sasl(lambda: Plain("admin", USERS["admin"])),
    "SCRAM-SHA-256": sasl(lambda: Scram(*SCRAM_USER, "SCRAM-SHA-256")),
    "SCRAM-SHA-512": sasl(lambda: Scram(*SCRAM_USER, "SCRAM-SHA-512")),
    "OAUTHBEARER": sasl(lambda: OAuthBearer(lambda: token(BEARER))),
    "certificate": Way("mutual", certificate=LEADER),
    # CLUSTER_ACTION on the cluster, and nothing else: as docs/kafka-cluster.md grants it.
    "granted by an ACL": sasl(lambda: Plain(ACTOR, USERS[ACTOR])),
}
#: Each is told so once: sending it again and again would lock an account.
REFUSED = {
    "PLAIN, wrong password": (sasl(lambda: Plain("admin", "wrong")), AuthenticationFailedError, 58),
    "PLAIN, nobody": (sasl(lambda: Plain("nobody", "wrong")), AuthenticationFailedError, 58),
    "SCRAM-SHA-256, wrong password": (sasl(lambda: Scram(SCRAM_USER[0], "x", "SCRAM-SHA-256")), AuthenticationFailedError, 58),
    "SCRAM-SHA-512, wrong password": (sasl(lambda: Scram(SCRAM_USER[0], "x")), AuthenticationFailedError, 58),
    "SCRAM-SHA-512, nobody": (sasl(lambda: Scram("nobody", "x")), AuthenticationFailedError, 58),
    "OAUTHBEARER, expired": (sasl(lambda: OAuthBearer(lambda: token(BEARER, lasts=-5))), AuthenticationFailedError, 58),
    "OAUTHBEARER, no token": (sasl(lambda: OAuthBearer(lambda: "x")), AuthenticationFailedError, 58),
    "no certificate": (Way("mutual"), AuthenticationFailedError, 58),
    "a mechanism where there is none": (
        Way("mutual", lambda: Plain("admin", USERS["admin"]), LEADER),
        AuthenticationFailedError,
        34,
    ),
    "PLAIN, without the right": (sasl(lambda: Plain(CLERK, USERS[CLERK])), NotAuthorizedError, 31),
    "OAUTHBEARER, without the right": (sasl(lambda: OAuthBearer(lambda: token(CLERK))), NotAuthorizedError, 31),
    "certificate, without the right": (Way("mutual", certificate=CLERK), NotAuthorizedError, 31),
}
NAMES = {58: "SASL_AUTHENTICATION_FAILED", 34: "ILLEGAL_SASL_STATE", 31: "CLUSTER_AUTHORIZATION_FAILED"}
_numbers = itertools.count()


class Place(NamedTuple):
    """A broker, and a topic of it."""

    real: RealBroker
    topic_id: str

    def new_key(self) -> ss.SharePartitionKey:
        return ss.SharePartitionKey(f"secured-{next(_numbers)}", self.topic_id, 0)

    def address(self, listener: str) -> str:
        return f"127.0.0.1:{getattr(self.real.ports, listener)}"


@pytest.fixture(scope="module", params=home.VERSIONS)
def place(request: pytest.FixtureRequest, real_brokers: Callable[[str], RealBroker]) -> Place:
    real = real_brokers(str(request.param))
    real.make_principals_known()
    return Place(real, real.create_topic("secured", 1))


def all_five(kafka: KafkaPersister, key: ss.SharePartitionKey) -> None:
    """Every request of a share coordinator, carried out."""
    kafka.reset_state(key, 1, 7)
    assert kafka.read_state(key, 1) == ss.ReadStateResult(1, 7, [])
    kafka.write_state(key, ss.WriteState(1, 1, 8, 0, [(8, 9, 2, 1)]))
    assert kafka.read_summary(key).start_offset == 8
    kafka.delete_state(key)
    with pytest.raises(ss.ShareStateError):
        kafka.read_state(key, 1)


@pytest.mark.parametrize("way", ADMITTED)
def test_who_may_gets_in(way: str, place: Place) -> None:
    security = ADMITTED[way].security(place.real.authority)
    with KafkaPersister(place.address(ADMITTED[way].listener), security=security, retry=QUICK) as kafka:
        all_five(kafka, place.new_key())


@pytest.mark.parametrize("case", REFUSED)
def test_who_may_not_is_told_so_once(case: str, place: Place) -> None:
    way, kind, code = REFUSED[case]
    key, address = place.new_key(), place.address(way.listener)
    with KafkaPersister(address, security=way.security(place.real.authority), retry=QUICK) as kafka:
        refused = _refusal(kafka, key)
    assert type(refused) is kind, refused
    assert (refused.kafka_code, refused.key, refused.node, refused.attempts) == (code, shown_key(key), address, 1)
    assert refused.kafka_name == NAMES[code]
    assert not refused.outcome_unknown
    assert _nothing_is_there(place, key)


def test_a_certificate_of_another_authority_is_refused_by_both_sides(place: Place) -> None:
    key = place.new_key()
    stranger = ssl.create_default_context(cafile=place.real.authority.root)
    trustme.CA().issue_cert("leader@example.org", common_name=LEADER).configure_cert(stranger)
    untrusting = ssl.create_default_context()
    untrusting.load_cert_chain(place.real.authority.client(LEADER))
    for context in (stranger, untrusting):
        with KafkaPersister(place.address("mutual"), security=SecurityOptions(ssl_context=context), retry=QUICK) as kafka:
            refused = _refusal(kafka, key)
        assert (type(refused), refused.kafka_code, refused.attempts) == (AuthenticationFailedError, 58, 1), refused
        assert "certificate" in str(refused)


def test_without_tls_nothing_is_understood(place: Place) -> None:
    key = place.new_key()
    with KafkaPersister(place.address("secured"), retry=ONCE) as kafka:
        assert type(_refusal(kafka, key)) is BadAnswerError
    context = place.real.authority.context()
    with KafkaPersister(place.real.bootstrap, security=SecurityOptions(ssl_context=context), retry=ONCE) as kafka:
        assert type(_refusal(kafka, key)) is BrokerUnreachableError
    # TLS without saying who one is.
    with KafkaPersister(place.address("secured"), security=SecurityOptions(ssl_context=context), retry=ONCE) as kafka:
        assert type(_refusal(kafka, key)) is BrokerUnreachableError
    assert _nothing_is_there(place, key)


def test_an_unknown_topic_is_tried_again_and_told(place: Place) -> None:
    nowhere = place.new_key()._replace(topic_id="AAECAwQFBgcICQoLDA0ODw")
    retry = RetryPolicy(attempts=3, initial_seconds=0.01)
    with KafkaPersister(place.real.bootstrap, retry=retry) as kafka, pytest.raises(UnknownTopicError) as refused:
        kafka.reset_state(nowhere, 0, 0)
    assert (refused.value.kafka_code, refused.value.attempts, refused.value.outcome_unknown) == (3, 3, False)
    assert (refused.value.node, refused.value.key) == (f"broker 1 ({place.real.bootstrap})", shown_key(nowhere))


@pytest.fixture
def proxy(place: Place) -> Iterator[Proxy]:
    with Proxy(place.real.ports.proxy, place.real.ports.proxied, WRITE) as running:
        yield running


@pytest.mark.parametrize("cut", Cut)
def test_a_connection_that_ends_half_way_leaves_the_outcome_open(cut: Cut, place: Place, proxy: Proxy) -> None:
    key, address = place.new_key(), f"127.0.0.1:{place.real.ports.proxy}"
    with KafkaPersister(address, retry=ONCE) as kafka:
        kafka.reset_state(key, 1, 7)
        proxy.cuts.append(cut)
        with pytest.raises(OutcomeUnknownError) as unknown:
            kafka.write_state(key, ss.WriteState(1, 1, 8, 0, []))
        assert (unknown.value.kafka_code, unknown.value.attempts, unknown.value.outcome_unknown) == (13, 1, True)
        assert (unknown.value.key, unknown.value.node) == (shown_key(key), address)
        # Reading tells what became of it, on a new connection.
        assert kafka.read_summary(key).start_offset == (7 if cut is Cut.IN_THE_REQUEST else 8)
    assert proxy.passed >= 3


def test_what_was_cut_off_is_tried_again(place: Place, proxy: Proxy) -> None:
    key = place.new_key()
    with KafkaPersister(f"127.0.0.1:{place.real.ports.proxy}", retry=QUICK) as kafka:
        kafka.reset_state(key, 1, 7)
        proxy.cuts.extend(Cut)
        kafka.write_state(key, ss.WriteState(1, 1, 8, 0, [(9, 9, 2, 1)]))
        assert not proxy.cuts
        assert kafka.read_state(key, 1) == ss.ReadStateResult(1, 8, [ss.StateBatch(9, 9, 2, 1)])


def _refusal(kafka: KafkaPersister, key: ss.SharePartitionKey) -> KafkaPersisterError:
    with pytest.raises(KafkaPersisterError) as refused:
        kafka.reset_state(key, 1, 7)
    return refused.value


def _nothing_is_there(place: Place, key: ss.SharePartitionKey) -> bool:
    with KafkaPersister(place.real.bootstrap, retry=QUICK) as kafka:
        return kafka.read_summary(key).state_epoch == 0
