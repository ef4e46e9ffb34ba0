"""Who a certificate is of: its subject as Kafka writes it in a principal, ``CN=alice,OU=Dev,O=Org`` (RFC 2253).

The standard library gives the subject without the encodings that a name of an unusual kind is written with, so the few
elements on the way to it are read here. OpenSSL has verified the certificate before.
"""

from __future__ import annotations

from typing import Final

from share_state.errors import WireDecodeError

__all__ = ["subject_of"]

#: The kinds that ``X500Principal.getName`` writes by name; others are written by number, their value in hexadecimal.
_KINDS: Final = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
_SPECIAL: Final = frozenset(',=+<>#;"\\')
_VERSION: Final = 0xA0
_LONG: Final = 0x80
_MORE: Final = 0x80
#: UTF8String, PrintableString, T61String, IA5String, BMPString.
_ENCODINGS: Final = {0x0C: "utf-8", 0x13: "ascii", 0x14: "latin-1", 0x16: "ascii", 0x1E: "utf-16-be"}


def subject_of(certificate: bytes) -> str:
    """Return the subject of a certificate in DER.

    Raises:
        WireDecodeError: it is no certificate.
    """
    try:
        _, content, _ = _element(certificate)
        _, rest, _ = _element(content)
        tag, _, after = _element(rest)
        # Serial number, algorithm, issuer and validity come before the subject; the version before all, where it is there.
        rest = after if tag == _VERSION else rest
        for _ in range(4):
            _, _, rest = _element(rest)
        _, subject, _ = _element(rest)
        return ",".join(reversed([_relative(content) for _, content in _all(subject)]))
    except (IndexError, ValueError):
        raise WireDecodeError("a certificate is malformed", position=0, kind="certificate") from None


def _element(data: bytes) -> tuple[int, bytes, bytes]:
    """Give tag and content of the first element, and what follows it."""
    length, start = data[1], 2
    if length & _LONG:
        start += length & ~_LONG
        length = int.from_bytes(data[2:start], "big")
    if start + length > len(data):
        raise ValueError
    return data[0], data[start : start + length], data[start + length :]


def _all(data: bytes) -> list[tuple[int, bytes]]:
    found = []
    while data:
        tag, content, data = _element(data)
        found.append((tag, content))
    return found


def _relative(content: bytes) -> str:
    """Write one part of a name, which may have several values."""
    values = []
    for _, value in _all(content):
        _, kind, rest = _element(value)
        values.append(_value(_number(kind), rest))
    return "+".join(values)


def _value(kind: str, encoded: bytes) -> str:
    tag, content, _ = _element(encoded)
    name, encoding = _KINDS.get(kind), _ENCODINGS.get(tag)
    if name is None or encoding is None:
        return f"{name or kind}=#{encoded.hex()}"
    text = content.decode(encoding)
    blanks_before = len(text) - len(text.lstrip(" "))
    blanks_after = len(text.rstrip(" "))
    written = []
    for at, character in enumerate(text):
        if character == "\0":
            written.append("\\00")
        elif character in _SPECIAL or (character == " " and (at < blanks_before or at >= blanks_after)):
            written.append("\\" + character)
        else:
            written.append(character)
    return f"{name}={''.join(written)}"


def _number(encoded: bytes) -> str:
    """Write an object identifier with dots."""
    first = min(encoded[0] // 40, 2)
    numbers, value = [first, encoded[0] - 40 * first], 0
    for byte in encoded[1:]:
        value = value << 7 | byte & ~_MORE
        if not byte & _MORE:
            numbers.append(value)
            value = 0
    return ".".join(map(str, numbers))
