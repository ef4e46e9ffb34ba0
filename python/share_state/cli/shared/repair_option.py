"""`--repair`: the consent to cut a damaged log."""

from typing import Annotated

import typer

from share_state.errors import CorruptLogError

RepairOption = Annotated[
    bool,
    typer.Option(
        "--repair", help="Cut damaged logs where the damage begins. What was confirmed after that point is lost, and reported."
    ),
]


def refusal(error: Exception) -> str:
    """Say why a directory was not opened; of damaged logs, what --repair would do."""
    if isinstance(error, CorruptLogError) and error.repairs:
        return "; ".join(f"{place} (--repair {loss})" for place, loss in error.repairs)
    return str(error)
