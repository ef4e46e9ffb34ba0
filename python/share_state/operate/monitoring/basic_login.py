"""Basic authentication: whether a request shows a login that is known."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from typing import Final

__all__ = ["CHALLENGE", "may"]

#: The header ``WWW-Authenticate`` of a refusal.
CHALLENGE: Final = 'Basic realm="share-state", charset="UTF-8"'


def may(users: Mapping[str, str] | None, authorization: str) -> bool:
    """Tell whether a request may go on.

    Args:
        users: passwords by name; None where no login is asked for.
        authorization: the request's header of this name, empty where it has none.
    """
    if users is None:
        return True
    kind, _, token = authorization.partition(" ")
    try:
        name, _, password = base64.b64decode(token, validate=True).decode().partition(":")
    except ValueError:
        # Not base64, or not UTF-8.
        return False
    known = users.get(name)
    # The same time for a wrong name as for a wrong password.
    is_right = hmac.compare_digest((known or "").encode(), password.encode())
    return kind.lower() == "basic" and known is not None and is_right
