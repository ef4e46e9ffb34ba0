"""The options with which a command shows payloads: formats, sizes, redaction, schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from share_state.cli.shared.choice import bounded
from share_state.errors import ConfigError
from share_state.operate.payloads import Format, Redaction, Showing
from share_state.operate.payloads.decoding import Registry
from share_state.util.printable import printable
from share_state.util.property_files import read_properties, trimmed

__all__ = [
    "KeyFormatOption",
    "MaxBytesOption",
    "RedactOption",
    "RegistryOption",
    "ValueFormatOption",
    "showing",
]

_PREFIX: Final = "schema.registry."
#: Most bytes of one field, more than a record of Kafka has.
_MOST_BYTES: Final = 1 << 30


def _max_bytes(number: int) -> int:
    bounded("--max-bytes", number, _MOST_BYTES, least=1)
    return number


KeyFormatOption = Annotated[
    Format, typer.Option("--key-format", help="How keys are decoded; the last three need --schema-registry.")
]
ValueFormatOption = Annotated[Format, typer.Option("--value-format", help="The same of values.")]
MaxBytesOption = Annotated[
    int, typer.Option("--max-bytes", callback=_max_bytes, help="Show so many bytes of each key, value and header.")
]
RedactOption = Annotated[
    list[str] | None,
    typer.Option(
        "--redact",
        metavar="RULE",
        help="Hide key, value, headers, header:NAME, or members: value:$.user.email, key:$..token. May be repeated.",
        show_default=False,
    ),
]
RegistryOption = Annotated[
    str | None,
    typer.Option(
        "--schema-registry",
        metavar="URL|FILE",
        help="A schema registry: its URL, or a file with lines NAME=VALUE, such as url and basic.auth.user.info.",
        show_default=False,
    ),
]


def showing(key: Format, value: Format, max_bytes: int, redact: list[str] | None, registry: str | None) -> Showing:
    """Take the options together.

    Raises:
        typer.BadParameter: a rule is none, or the registry cannot be used.
        MissingPackageError: a package for registries is not installed.
    """
    try:
        found = None if registry is None else _registry(registry)
        return Showing(key, value, max_bytes, Redaction.of(redact or ()), found)
    except ConfigError as error:
        raise typer.BadParameter(printable(str(error))) from None


def _registry(given: str) -> Registry:
    # Late: its packages are many, and most records name no schema.
    from share_state.operate.payloads.registry import schema_registry  # noqa: PLC0415

    return schema_registry({"url": given} if "://" in given else _settings(Path(given)))


def _settings(file: Path) -> dict[str, object]:
    if not file.is_file():
        raise ConfigError(f"--schema-registry {file} is no URL, and no file that can be read")
    settings = trimmed(read_properties(file, needs_values=True))
    return {name.removeprefix(_PREFIX): value for name, value in settings.items()}
