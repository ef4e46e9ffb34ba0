"""Kafka's protocol for the lab, independent of the codec under test: messages are plain data, and may say anything at all."""

from tests.gateway.wire.codec import CodecError, api_key, decode, encode, flexible, name_of, versions
from tests.gateway.wire.connection import Connection, Disconnected

__all__ = ["CodecError", "Connection", "Disconnected", "api_key", "decode", "encode", "flexible", "name_of", "versions"]
