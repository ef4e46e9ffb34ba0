"""Records as they are shown: decoded as far as they can be, hidden as far as they are to be, and cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from share_state.errors import ConfigError
from share_state.operate.payloads import Format, Payload, Redaction, Showing, Shown

HIDDEN = "<redacted>"
CARD = b'{"user":{"name":"Ann","card":{"pan":"4111"}},"items":[{"id":1,"pan":"4222"},{"id":2}],"total":1.50}'


def record(value: bytes | None, key: bytes | None = None, *headers: tuple[str, bytes | None]) -> Payload:
    return Payload("orders", 0, 7, 1_000, key, value, headers)


def shown(value: bytes | None, how: Format = Format.AUTO, *rules: str, max_bytes: int = 1024) -> Shown:
    return Showing(Format.HEX, how, max_bytes, Redaction.of(rules)).record(record(value)).value


@pytest.mark.parametrize(
    ("value", "how", "text"),
    [
        (CARD, Format.JSON, CARD.decode()),
        (b"[1]", Format.JSON, "[1]"),
        (b"", Format.UTF_8, ""),
        (b"12", Format.UTF_8, "12"),
        (b"{broken", Format.UTF_8, "{broken"),
        ("naïve\n".encode(), Format.UTF_8, "naïve\n"),
        (b"\x1b[31m", Format.HEX, "1b5b33316d"),
        (b"\x00\xff", Format.HEX, "00ff"),
        (b"[" * 100_000, Format.UTF_8, "[" * 1024),
    ],
)
def test_what_is_not_said_is_found_out(value: bytes, how: Format, text: str) -> None:
    found = shown(value)
    assert (found.format, found.text, found.size, found.reason) == (how, text, len(value), None)


def test_nothing_is_nothing() -> None:
    assert shown(None) == Shown(None, None, None)
    assert shown(None, Format.AVRO, "value") == Shown(None, None, None)


@pytest.mark.parametrize(
    ("value", "how", "reason"),
    [
        (b"a\xff", Format.UTF_8, "it cannot be read as utf-8: byte 1 is not UTF-8"),
        (b"{,", Format.JSON, "it cannot be read as json: Expecting property name enclosed in double quotes at character 1"),
        (b"a\xff", Format.JSON, "it cannot be read as json: byte 1 is not UTF-8"),
        (b"[" * 100_000, Format.JSON, "it cannot be read as json: it is nested too deep"),
        (b"abc", Format.AVRO, "it cannot be read as avro: ValueError: no schema registry was given"),
    ],
)
def test_what_cannot_be_decoded_is_hexadecimal_with_the_reason(value: bytes, how: Format, reason: str) -> None:
    found = shown(value, how, max_bytes=4)
    assert (found.format, found.text, found.reason) == (Format.HEX, value[:4].hex(), reason)


def test_what_is_not_shown_is_counted() -> None:
    assert shown(b"x" * 2_000) == Shown(Format.UTF_8, "x" * 1_024, 2_000, 976)
    assert shown(b"\x00" * 2_000, max_bytes=10) == Shown(Format.HEX, "00" * 10, 2_000, 1_990)
    # Half a character is none.
    assert shown("ää".encode(), max_bytes=3) == Shown(Format.UTF_8, "ä", 4, 2)


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (
            ["value:$.user.card.pan"],
            '{"user":{"name":"Ann","card":{"pan":"@"}},"items":[{"id":1,"pan":"4222"},{"id":2}],"total":1.5}',
        ),
        (["value:$..pan"], '{"user":{"name":"Ann","card":{"pan":"@"}},"items":[{"id":1,"pan":"@"},{"id":2}],"total":1.5}'),
        (["value:$.items[1]"], '{"user":{"name":"Ann","card":{"pan":"4111"}},"items":[{"id":1,"pan":"4222"},"@"],"total":1.5}'),
        (["value:$.items[*].id", "value:$.user"], '{"user":"@","items":[{"id":"@","pan":"4222"},{"id":"@"}],"total":1.5}'),
        (["value:$.*"], '{"user":"@","items":"@","total":"@"}'),
        (["value:$..card.pan", "value:$.nothing[3].here"], None),
    ],
)
def test_members_are_hidden_by_their_path(rules: list[str], text: str | None) -> None:
    wanted = shown(CARD, Format.AUTO, "value:$.user.card.pan").text if text is None else text.replace("@", HIDDEN)
    found = shown(CARD, Format.AUTO, *rules)
    assert (found.format, found.text, found.redacted, found.reason) == (Format.JSON, wanted, True, None)


def test_a_path_that_meets_nothing_hides_nothing() -> None:
    found = shown(b'{"a": "<redacted>"}', Format.AUTO, "value:$.b")
    assert (found.text, found.redacted) == ('{"a":"<redacted>"}', False)


@pytest.mark.parametrize("value", [b'{"pan":4111,"pan":1}', b'{"card":{"pan":4111},"card":5}'])
def test_a_member_that_comes_twice_is_not_shown_by_the_other(value: bytes) -> None:
    text = shown(value, Format.AUTO, "value:$..pan").text
    assert text is not None
    assert "4111" not in text


@pytest.mark.parametrize("value", [b"4111", b"pan=4111", b"\x004111", b'{"pan":4111', b"[" * 999 + b"4111" + b"]" * 999])
@pytest.mark.parametrize("how", [Format.AUTO, Format.JSON, Format.UTF_8, Format.HEX, Format.AVRO])
def test_what_has_no_members_is_hidden_as_a_whole(value: bytes, how: Format) -> None:
    found = shown(value, how, "value:$.pan")
    if value.startswith(b"[") and found.format is Format.JSON:
        # Deep, and still read: it has no such member.
        assert not found.redacted
        return
    assert (found.text, found.format, found.redacted, found.size) == (HIDDEN, None, True, len(value))
    assert found.reason is not None
    assert "4111" not in found.reason


def test_keys_values_and_headers_are_hidden_by_name() -> None:
    one = record(b"v", b"k", ("Token", b"t"), ("kind", b"n"), ("token", None))
    whole = Showing(redaction=Redaction.of(["key", "value", "headers"])).record(one)
    texts = [whole.key.text, whole.value.text, *(header.value.text for header in whole.headers)]
    assert texts == [HIDDEN, HIDDEN, HIDDEN, HIDDEN, None]
    assert [header.name for header in whole.headers] == ["Token", "kind", "token"]
    named = Showing(redaction=Redaction.of(["header:TOKEN", "key:$.a"])).record(one)
    assert [header.value.text for header in named.headers] == [HIDDEN, "n", None]
    assert (named.key.text, named.value.text) == (HIDDEN, "v")


@pytest.mark.parametrize(
    "rule",
    [
        "",
        "values",
        "header",
        "header:",
        "value:",
        "value:a",
        "value:$",
        "value:$.",
        "value:$.a[",
        "value:$.a b[x]",
        "headers:$.a",
    ],
)
def test_a_rule_that_is_none_is_refused(rule: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Redaction.of([rule])
    assert (refused.value.field, refused.value.value) == ("redact", rule)


@given(st.binary(max_size=200), st.sampled_from(Format), st.sampled_from([[], ["value:$..a"], ["value"]]))
def test_no_bytes_raise(value: bytes, how: Format, rules: list[str]) -> None:
    found = shown(value, how, *rules, max_bytes=50)
    assert found.size == len(value)
    assert found.text is not None


@settings(max_examples=30)
@given(
    st.recursive(
        st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "secret"]), inner, max_size=3),
        max_leaves=8,
    )
)
def test_what_is_hidden_at_any_depth_is_nowhere(tree: object) -> None:
    text = shown(json.dumps([tree]).encode(), Format.JSON, "value:$..secret").text
    assert text is not None

    def secrets(part: object) -> list[object]:
        if isinstance(part, dict):
            return [found for name, member in part.items() for found in ([member] if name == "secret" else secrets(member))]
        return [found for member in part for found in secrets(member)] if isinstance(part, list) else []

    assert all(found == HIDDEN for found in secrets(json.loads(text)))
