"""Certificates: the broker's, which we look at, and ours, which the broker looks at."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator

import pytest
import trustme

from share_state.kafka import (
    AuthenticationFailedError,
    BadAnswerError,
    BrokerUnreachableError,
    Plain,
    RetryPolicy,
    SecurityOptions,
)
from share_state.kafka.client.peers import Address
from share_state.kafka.shown_key import shown_key
from tests.kafka.client.test_security import plain_step, sasl_broker
from tests.kafka.scripted import KEY, ScriptedBroker, on_loop, persister

ONCE = RetryPolicy(attempts=1)


def authority() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Contexts of a broker and of a client that trusts it; both show a certificate."""
    ca = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.verify_mode = ssl.CERT_REQUIRED
    client = ssl.create_default_context()
    for context, name in ((server, "127.0.0.1"), (client, "client@example.org")):
        ca.configure_trust(context)
        ca.issue_cert(name).configure_cert(context)
    return server, client


@on_loop
async def test_tls_both_ways() -> None:
    server, client_context = authority()
    async with ScriptedBroker(ssl_context=server) as broker:
        security = SecurityOptions(ssl_context=client_context)
        async with persister(await broker.start(), security=security) as client:
            await client.reset_state(KEY, 1, 7)
            assert (await client.read_summary(KEY)).start_offset == 7


@on_loop
async def test_sasl_goes_over_tls() -> None:
    server, client_context = authority()
    broker = sasl_broker(plain_step, ["PLAIN"])
    broker._ssl_context = server
    security = SecurityOptions(ssl_context=client_context, sasl=Plain("alice", "alice-secret"))
    async with broker, persister(await broker.start(), security=security) as client:
        await client.reset_state(KEY, 1, 7)


@on_loop
async def test_a_certificate_of_somebody_else() -> None:
    server, _ = authority()
    _, stranger = authority()
    async with ScriptedBroker(ssl_context=server) as broker:
        address = await broker.start()
        async with persister(address, security=SecurityOptions(ssl_context=stranger)) as client:
            with pytest.raises(AuthenticationFailedError, match="certificate") as raised:
                await client.read_summary(KEY)
            assert (raised.value.attempts, raised.value.kafka_code) == (1, 58)
    server, trusting = authority()
    async with ScriptedBroker(ssl_context=server) as broker:
        named = SecurityOptions(ssl_context=trusting, server_hostname="broker.example.org")
        async with persister(await broker.start(), security=named) as client:
            with pytest.raises(AuthenticationFailedError, match=r"broker\.example\.org"):
                await client.read_summary(KEY)


@contextlib.contextmanager
def refusing(context: ssl.SSLContext) -> Iterator[Address]:
    """A port that lets nobody in and says why, as a broker does; asyncio's server would only hang up."""

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                plain, _ = listening.accept()
                with context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False) as client:
                    with pytest.raises(ssl.SSLError):
                        client.do_handshake()
                    client.shutdown(socket.SHUT_WR)
                    # What is not read would take the alert with it.
                    while client.recv(4096):
                        pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield Address(*listening.getsockname())
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


#: Versions of TLS; the flag is true if a certificate is shown. Without one, OpenSSL only says in TLS 1.2 that the handshake
#: failed.
SHOWN = [(ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True), (ssl.TLSVersion.TLSv1_3, False)]


@pytest.mark.parametrize(("version", "shows_one"), SHOWN)
@on_loop
async def test_a_broker_that_does_not_take_our_certificate_says_so_once(version: ssl.TLSVersion, shows_one: bool) -> None:
    ca = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.verify_mode = ssl.CERT_REQUIRED
    server.maximum_version = version
    ca.configure_trust(server)
    ca.issue_cert("127.0.0.1").configure_cert(server)
    ours = ssl.create_default_context()
    ca.configure_trust(ours)
    if shows_one:
        trustme.CA().issue_cert("client@example.org").configure_cert(ours)
    with refusing(server) as address:
        async with persister(address, security=SecurityOptions(ssl_context=ours)) as client:
            with pytest.raises(AuthenticationFailedError, match="our certificate is not taken") as raised:
                await client.read_summary(KEY)
            assert (raised.value.kafka_code, raised.value.attempts, raised.value.key) == (58, 1, shown_key(KEY))
            assert raised.value.node == f"{address.host}:{address.port}"
            assert not raised.value.outcome_unknown


@on_loop
async def test_tls_where_the_broker_speaks_none_and_the_other_way_round() -> None:
    server, client_context = authority()
    async with ScriptedBroker() as broker:
        address = await broker.start()
        async with persister(address, security=SecurityOptions(ssl_context=client_context), retry=ONCE) as client:
            with pytest.raises(BrokerUnreachableError):
                await client.read_summary(KEY)
    async with ScriptedBroker(ssl_context=server) as broker, persister(await broker.start(), retry=ONCE) as client:
        with pytest.raises((BadAnswerError, BrokerUnreachableError)):
            await client.read_summary(KEY)
