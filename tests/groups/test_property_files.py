"""Property files, beside what Java's own `Properties.load` made of the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from share_state.errors import ConfigError
from share_state.util.property_files import read_properties, trimmed

#: Bytes of a file, and what Java 17 read in it.
READ: list[tuple[bytes, dict[str, str]]] = [
    (b"", {}),
    (b"a=b", {"a": "b"}),
    (b"a:b\nc = d \n  e : f", {"a": "b", "c": "d ", "e": "f"}),
    (b"a b\nc\td\ne\x0cf\ng  =  h\ni\t:\tj", {"a": "b", "c": "d", "e": "f", "g": "h", "i": "j"}),
    (b"a = = b\nc : = d\ne  f = g", {"a": "= b", "c": "= d", "e": "f = g"}),
    (b"# a=b\n! c=d\n  # e=f\n\n   \ng=h", {"g": "h"}),
    (b"a=b=c\nd:e=f\ng=h:i", {"a": "b=c", "d": "e=f", "g": "h:i"}),
    (b"a\\:b\\=c\\ d=e", {"a:b=c d": "e"}),
    (b"a=\\t\\n\\r\\f\\b\\x\\\\\\=", {"a": "\t\n\r\fbx\\="}),
    (b"a=b\\\n   c\\\r\n\td\\\re", {"a": "bcde"}),
    (b"a=b\\\n#c\nd=e", {"a": "b#c", "d": "e"}),
    (b"a=b\\\n\nc=d", {"a": "b", "c": "d"}),
    (b"\\\n# a=b\n\\\n\\\n c=d", {"c": "d"}),
    (b"# a\\\nb=c", {"b": "c"}),
    (b"a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
    (b"a=b\\\\\\\nc", {"a": "b\\c"}),
    (b"a=b\\", {"a": "b"}),
    (b"a=b\n\\\n", {"a": "b"}),
    (b"a=b\rc=d\r\ne=f", {"a": "b", "c": "d", "e": "f"}),
    # Java knows no other ends of lines, and no other blanks.
    (b"a=b\x0b\x1c\x85\xa0c", {"a": "b\x0b\x1c\x85\xa0c"}),
    (b"\xa0a\x0b=b", {"\xa0a\x0b": "b"}),
    (b"a=b\na=c", {"a": "c"}),
    (b"alone", {"alone": ""}),
    (b"a=", {"a": ""}),
    (b"a=\xe9", {"a": "é"}),
    ("a=é".encode(), {"a": "Ã©"}),
    (b"a=\\u00e9\\u20AC\\uD83D\\uDE00\\u003d", {"a": "é€😀="}),
    (b"\\u0061\\u003a=b", {"a:": "b"}),
    (b"a=\\\\u0041", {"a": "\\u0041"}),
]


@pytest.mark.parametrize(("content", "found"), READ)
def test_a_file_is_read_as_java_reads_it(tmp_path: Path, content: bytes, found: dict[str, str]) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert read_properties(path) == found


@pytest.mark.parametrize(
    ("content", "line", "told"),
    [
        (b"=b", 1, "a line without a key"),
        (b"a=b\n\n# c\n :d\ne=f", 4, "a line without a key"),
        (b"a=b\\\nc\n = ", 3, "a line without a key"),
        (b"a=b\nc=\\u00g0", 2, r"expected four hexadecimal digits after \u"),
        (b"a=\\\nsecret\\u12", 1, r"expected four hexadecimal digits after \u"),
        (b"\\u=b", 1, r"expected four hexadecimal digits after \u"),
        (b"a=\\uD83Dsecret", 1, "half of a surrogate pair stands for no character"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_not_shown(tmp_path: Path, content: bytes, line: int, told: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        read_properties(path)
    assert str(refused.value) == f"{path}:{line}: {told}"
    assert (refused.value.field, refused.value.value) == ("config", line)


def test_a_name_alone_is_refused_where_each_needs_a_value(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a b\nc=\nsecret")
    with pytest.raises(ConfigError) as refused:
        read_properties(path, needs_values=True)
    assert str(refused.value) == f"{path}, line 3: expected NAME=VALUE"
    path.write_bytes(b"a b\nc=\nd:")
    assert read_properties(path, needs_values=True) == {"a": "b", "c": "", "d": ""}


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none"
    with pytest.raises(ConfigError) as refused:
        read_properties(path)
    assert str(refused.value) == f"{path} cannot be read: [Errno 2] No such file or directory: '{path}'"
    assert (refused.value.field, refused.value.value) == ("config", str(path))


def test_values_lose_what_kafka_trims(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a = b c \t\nd=\\u0001\\u00a0e\\ ")
    found = read_properties(path)
    assert trimmed(found) == {"a": "b c", "d": "\xa0e"}


def test_an_error_is_located_by_the_property_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"# \na=1\nb.c=2")
    found = read_properties(path)
    for told, field, located in (
        ("b.c is 2", "b.c", f"{path}:3: b.c is 2"),
        ("x must not be more than a", "x", f"{path}:2: x must not be more than a"),
        ("x is wrong", "x", "x is wrong"),
    ):
        with pytest.raises(ConfigError) as refused, found.located():
            raise ConfigError(told, field=field, value=7)
        assert (str(refused.value), refused.value.field, refused.value.value) == (located, field, 7)
    with pytest.raises(ConfigError) as refused, found.located(alone=True):
        raise ConfigError("x is wrong", field="x")
    assert str(refused.value) == f"{path}: x is wrong"
