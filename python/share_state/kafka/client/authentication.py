"""Authentication of a connection by SASL: SaslHandshake (17) and SaslAuthenticate (36), from KIP-43 and KIP-152."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from share_state.kafka import codes
from share_state.kafka.client.apis import SASL_AUTHENTICATE, SASL_HANDSHAKE
from share_state.kafka.client.security import Mechanism, UnconvincedError
from share_state.kafka.errors import AuthenticationFailedError, class_of

__all__ = ["authenticate", "check"]

#: More messages than any mechanism has.
_MAX_STEPS: Final = 8


async def authenticate(
    mechanism: Mechanism, node: str, request: Callable[[int, dict[str, Any]], Awaitable[dict[str, Any]]]
) -> int:
    """Hold the conversation of a mechanism, and return how many ms the session lives, 0 for no end (KIP-368).

    Args:
        mechanism: the mechanism.
        node: the broker, for errors.
        request: sends a request, and returns its answer.

    Raises:
        AuthenticationFailedError: a side does not convince the other one.
        KafkaPersisterError: the broker refuses for another reason.
    """
    handshake = await request(SASL_HANDSHAKE, {"mechanism": mechanism.name})
    if handshake["errorCode"] == codes.UNSUPPORTED_SASL_MECHANISM:
        takes = ", ".join(handshake["mechanisms"])
        message = f"{node}: the broker does not take {mechanism.name}; it takes {takes or 'no mechanism'}"
        raise AuthenticationFailedError(message, kafka_code=handshake["errorCode"], node=node)
    check(handshake, "SaslHandshake", node)
    conversation = mechanism.start()
    try:
        lifetime_ms = 0
        say: bytes | None = await conversation.first()
        for _ in range(_MAX_STEPS):
            answer = await request(SASL_AUTHENTICATE, {"authBytes": say})
            check(answer, f"authentication by {mechanism.name}", node)
            lifetime_ms = answer["sessionLifetimeMs"]
            say = await conversation.answer(answer["authBytes"])
            if say is None:
                break
        conversation.check_ended()
    except UnconvincedError as wrong:
        message = f"{node}: authentication by {mechanism.name} failed: {wrong}"
        raise AuthenticationFailedError(message, kafka_code=codes.SASL_AUTHENTICATION_FAILED, node=node) from None
    return lifetime_ms


def check(answer: dict[str, Any], what: str, node: str) -> None:
    """Raise the error of an answer that has a code."""
    code = answer["errorCode"]
    if code != codes.NONE:
        said = answer.get("errorMessage") or "no reason given"
        message = f"{node}: {what} failed with code {code} ({codes.name_of(code)}): {said}"
        raise class_of(code)(message, kafka_code=code, node=node)
