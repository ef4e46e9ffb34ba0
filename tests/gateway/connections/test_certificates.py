"""TLS: certificates of clients as principals, and handshakes that come to nothing."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from share_state.errors import WireDecodeError
from share_state.gateway import Access, Limits, Operation, Resource, Rule
from share_state.gateway.certificate_names import subject_of
from tests.gateway.serving import RECORDS, drain, serving
from tests.gateway.wire.connection import Connection, Disconnected

#: Subjects in DER, and what ``X500Principal.getName`` of a JDK makes of them.
SUBJECTS = [
    ("3010310e300c06035504031305616c696365", "CN=alice"),
    (
        "3039310b3009060355040613025345310c300a060355040a13034f7267310c300a060355040b1303446576310e300c06035504031305616c696365",
        "CN=alice,OU=Dev,O=Org,C=SE",
    ),
    ("301c311a301806035504030c11612c622b633c643e653b665c673d682369", r"CN=a\,b\+c\<d\>e\;f\\g\=h\#i"),
    ("3010310e300c06035504030c052368617368", r"CN=\#hash"),
    ("300f310d300b06035504030c045a6fc3ab", "CN=Zoë"),
    (
        "3022310a300806035504031301783114301206092a864886f70d01090116056140622e63",
        "1.2.840.113549.1.9.1=#16056140622e63,CN=x",
    ),
    (
        (
            "3062310a3008060355040a13016f31123010060a0992268993f22c64011916026463310b3009060355040913027374310a3008060355"
            "0408130173310a3008060355040713016c311b30080603550403130178300f060a0992268993f22c640101130131"
        ),
        "CN=x+UID=1,L=l,ST=s,STREET=st,DC=dc,O=o",
    ),
    (
        "3028310a30080603550403130178310b3009060355040513023132310d300b060355040c1304626f7373",
        "2.5.4.12=#1304626f7373,2.5.4.5=#13023132,CN=x",
    ),
    ("3011310f300d06035504030c067122756f7465", r"CN=q\"uote"),
    ("300f310d300b06035504030c0420612020", r"CN=\ a\ \ "),
]  # fmt: skip


def element(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    length = len(content)
    size = bytes([length]) if length < 0x80 else bytes([0x82]) + length.to_bytes(2, "big")
    return bytes([tag]) + size + content


@pytest.mark.parametrize(("subject", "name"), SUBJECTS)
@pytest.mark.parametrize("has_version", [False, True])
def test_subjects_are_written_as_kafka_does(subject: str, name: str, has_version: bool) -> None:
    version = [element(0xA0, element(2, b"\2"))] if has_version else []
    issuer = bytes.fromhex(SUBJECTS[1][0])
    before = [element(2, b"\1"), element(0x30), issuer, element(0x30, b"x" * 300)]
    certificate = element(0x30, element(0x30, *version, *before, bytes.fromhex(subject), element(0x30)))
    assert subject_of(certificate) == name


def test_a_real_certificate_of_a_version_and_its_ends() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, "O,rg"), x509.NameAttribute(x509.NameOID.COMMON_NAME, "bob")]
    )
    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    made = x509.CertificateBuilder(subject, subject, key.public_key(), 5, now, now).sign(key, hashes.SHA256())
    der = made.public_bytes(Encoding.DER)
    assert subject_of(der) == r"CN=bob,O=O\,rg"
    refused = 0
    for length in range(200):
        try:
            subject_of(der[:length])
        except WireDecodeError:
            refused += 1
    assert refused == 200


def contexts(tmp_path: Path, common_name: str) -> ssl.SSLContext:
    ca = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.verify_mode = ssl.CERT_REQUIRED
    ca.configure_trust(server)
    ca.issue_cert("127.0.0.1").configure_cert(server)
    shown = ca.issue_cert("client.example.org", common_name=common_name, organization_name="Org", organization_unit_name="Dev")
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    shown.cert_chain_pems[0].write_to_path(str(tmp_path / "client.pem"))
    shown.private_key_pem.write_to_path(str(tmp_path / "client.key"))
    return server


def test_the_subject_of_a_certificate_is_the_principal(bootstrap: str, tmp_path: Path) -> None:
    context = contexts(tmp_path, "alice")
    alice = "User:CN=alice,OU=Dev,O=Org"
    rules = [Rule(alice, Operation.READ, resource, "*", False, True) for resource in (Resource.TOPIC, Resource.GROUP)]
    settings = {
        "security.protocol": "SSL",
        "ssl.ca.location": str(tmp_path / "ca.pem"),
        "ssl.certificate.location": str(tmp_path / "client.pem"),
        "ssl.key.location": str(tmp_path / "client.key"),
    }
    with serving(bootstrap, tmp_path / "gateway", ssl_context=context, access=Access(rules)) as gateway:
        assert drain(gateway, **settings) == RECORDS


def test_handshakes_that_fail_leave_no_trace(bootstrap: str, tmp_path: Path) -> None:
    context = contexts(tmp_path, "alice")
    limits = Limits(connections=2)
    with serving(bootstrap, tmp_path / "gateway", ssl_context=context, limits=limits) as gateway:
        host, port = gateway.address
        for said in (b"\0\0\0\x10no TLS at all", b"GET / HTTP/1.1\r\n\r\n", b"", b"\x16\x03\x01\x00\x05hello") * 2:
            with socket.create_connection((host, port), timeout=30) as stranger:
                stranger.sendall(said)
                stranger.shutdown(socket.SHUT_WR)
                while stranger.recv(4096):
                    pass
        trusting = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
        trusting.load_cert_chain(tmp_path / "client.pem", tmp_path / "client.key")
        with (
            socket.create_connection((host, port), timeout=30) as plain,
            trusting.wrap_socket(plain, server_hostname=host) as client,
        ):
            client.sendall(b"\0\0\0\x0a\0\x12\0\0\0\0\0\x07\xff\xff")
            assert client.recv(8)[4:] == b"\0\0\0\x07"
        assert gateway.server.tls_failed >= 6


def test_a_client_without_tls_is_cut_off(bootstrap: str, tmp_path: Path) -> None:
    with (
        serving(bootstrap, tmp_path / "gateway", ssl_context=contexts(tmp_path, "x")) as gateway,
        Connection(gateway.bootstrap_servers) as connection,
        pytest.raises(Disconnected),
    ):
        connection.offered()
