"""Tokens of OAUTHBEARER: by the keys of a file, and without a signature."""

from __future__ import annotations

import hmac
import json
import time
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from share_state.errors import ConfigError
from share_state.gateway.tokens import SignedTokens
from share_state.kafka.bearer_tokens import TokenRefusedError

SECRET = b"a secret of thirty-two bytes or more"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())


def keys(path: Path) -> Path:
    rows: list[dict[str, Any]] = [
        {"kty": "oct", "kid": "secret", "alg": "HS256", "k": urlsafe_b64encode(SECRET).decode().rstrip("=")},
        {"kid": "rsa", **json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key()))},
        {"kid": "ec", **json.loads(jwt.algorithms.ECAlgorithm.to_jwk(EC.public_key()))},
    ]
    path.write_text(json.dumps({"keys": rows}), encoding="utf-8")
    return path


def claims(**others: Any) -> dict[str, Any]:
    return {key: value for key, value in {"sub": "alice", "exp": time.time() + 600, **others}.items() if value is not None}


@pytest.mark.parametrize(
    ("key", "algorithm", "key_id"), [(SECRET, "HS256", "secret"), (RSA, "RS256", "rsa"), (EC, "ES256", "ec")]
)
def test_signed_tokens_count(tmp_path: Path, key: Any, algorithm: str, key_id: str) -> None:
    tokens = SignedTokens(keys(tmp_path / "keys"), audience=["share"], issuer="me")
    good = claims(aud="share", iss="me")
    assert tokens(jwt.encode(good, key, algorithm, headers={"kid": key_id})) == "alice"
    wrong: list[dict[str, Any]] = [
        {"aud": "other"},
        {"aud": None},
        {"iss": "other"},
        {"iss": None},
        {"exp": None},
        {"exp": 1},
        {"sub": None},
        {"sub": ""},
    ]
    for change in wrong:
        with pytest.raises(TokenRefusedError):
            tokens(jwt.encode(claims(**{**good, **change}), key, algorithm, headers={"kid": key_id}))
    for header in ({"kid": "none"}, {}):
        with pytest.raises(TokenRefusedError):
            tokens(jwt.encode(good, key, algorithm, headers=header))


def forged_by_hmac(header: dict[str, str], key: bytes) -> str:
    said = unsecured(header, claims()).rstrip(".")
    return f"{said}.{urlsafe_b64encode(hmac.digest(key, said.encode(), 'sha256')).decode().rstrip('=')}"


def test_forged_tokens_do_not_count(tmp_path: Path) -> None:
    tokens = SignedTokens(keys(tmp_path / "keys"))
    assert tokens(jwt.encode(claims(), RSA, "RS256", headers={"kid": "rsa"})) == "alice"
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = json.dumps(json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key()))).encode()
    forged = [
        jwt.encode(claims(), other, "RS256", headers={"kid": "rsa"}),
        # The public key as if it were a secret.
        forged_by_hmac({"alg": "HS256", "kid": "rsa"}, public),
        jwt.encode(claims(), "", "none", headers={"kid": "rsa"}),
        "a.b.c",
        "",
        "é.b.c",
    ]
    for token in forged:
        with pytest.raises(TokenRefusedError):
            tokens(token)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"keys": []}', '{"keys": [{"kty": "oct"}]}', '{"keys": 5}', "\xff"])
def test_files_that_are_no_key_sets(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match="is not a JSON Web Key Set"):
        SignedTokens(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        SignedTokens(tmp_path / "none")


def unsecured(header: Any, content: Any, signature: str = "") -> str:
    parts = [urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, content)]
    return ".".join([*parts, signature])
