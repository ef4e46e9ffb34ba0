"""The application, asked without a server; and the addresses of its pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from share_state.operate.web.app import application
from share_state.operate.web.background import Background
from tests.operate.web.made_up import CLUSTER, TOPIC_ID, WORKERS, MadeUp

PARTITION = {"group": WORKERS, "topic_id": TOPIC_ID, "partition": "1"}
RECORD = {**PARTITION, "offset": "1247"}
PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("/", {}),
    ("/group", {"group": WORKERS}),
    ("/share-partition", PARTITION),
    ("/record", RECORD),
    ("/dead-letters", {"group": WORKERS}),
)


@asynccontextmanager
async def asking(made_up: MadeUp, client: tuple[str, int] = ("127.0.0.1", 5), **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    watch, background = made_up.watch(), Background(patience=30)
    await watch.start()
    try:
        app = application(watch, background, made_up.source(), CLUSTER, **options)
        transport = httpx.ASGITransport(app, client=client)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:9405") as found:
            yield found
    finally:
        await background.close()
        await watch.close()


def asked(made_up: MadeUp, path: str, params: Mapping[str, str] | None = None, **options: Any) -> httpx.Response:
    """Answer to a request."""
    headers, method = options.pop("headers", {}), options.pop("method", "GET")

    async def ask() -> httpx.Response:
        async with asking(made_up, **options) as client:
            return await client.request(method, path, params=dict(params) if params else None, headers=headers)

    return asyncio.run(ask())
