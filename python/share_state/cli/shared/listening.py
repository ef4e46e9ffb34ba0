"""Options of commands that listen: an address, a certificate."""

import ssl
from pathlib import Path
from typing import Annotated

import typer

from share_state.cli.shared.output import ReaderGoneError, discard_stdout
from share_state.kafka.client.peers import Address
from share_state.util.printable import printable

_MAX_PORT = 65_535

#: Certificate of the commands that serve over HTTP.
HttpsCertOption = Annotated[
    Path | None, typer.Option("--tls-cert", metavar="FILE", help="Serve HTTPS with this certificate.", show_default=False)
]
HttpsKeyOption = Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="Its key.", show_default=False)]
LoginOption = Annotated[
    Path | None,
    typer.Option(
        "--users", metavar="FILE", help="Lines NAME:PASSWORD; asks for a login (basic authentication).", show_default=False
    ),
]


def listen_address(text: str) -> Address:
    """Take HOST:PORT apart; an IPv6 host stands in brackets."""
    host, colon, port = text.rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not (colon and host and port.isascii() and port.isdigit() and int(port) <= _MAX_PORT):
        raise typer.BadParameter(f"{text!r}: expected HOST:PORT")
    return Address(host, int(port))


def announce(line: str) -> None:
    """Tell whoever has started a server that it serves, in one line; it goes on serving where nobody listens any more."""
    try:
        typer.echo(line)
    except ReaderGoneError:
        discard_stdout()


def server_tls(certificate: Path | None, key: Path | None, client_authority: Path | None = None) -> ssl.SSLContext | None:
    """Load a certificate and its key; ``None`` where neither is given. With an authority clients have to show one of its own."""
    if certificate is None and key is None:
        if client_authority is not None:
            raise typer.BadParameter("--tls-client-ca needs --tls-cert and --tls-key")
        return None
    if certificate is None or key is None:
        raise typer.BadParameter("--tls-cert and --tls-key need each other")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)

    def no_passphrase() -> str:
        # Asked for otherwise at the terminal, where nobody may be.
        raise typer.BadParameter(f"{printable(str(key))} has a passphrase")

    try:
        context.load_cert_chain(certificate, key, no_passphrase)
    except (OSError, ValueError) as wrong:
        raise typer.BadParameter(f"the certificate and key for TLS cannot be used: {printable(str(wrong))}") from None
    if client_authority is not None:
        try:
            context.load_verify_locations(client_authority)
        except (OSError, ValueError) as wrong:
            raise typer.BadParameter(f"--tls-client-ca cannot be used: {printable(str(wrong))}") from None
        context.verify_mode = ssl.CERT_REQUIRED
    return context
