"""The gateway: its parts and its life cycle."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Self

from share_state._core import Node
from share_state.errors import ShareStateError
from share_state.gateway.authentication import Authentication
from share_state.gateway.clock import lock_ms
from share_state.gateway.configs import Configs
from share_state.gateway.connection import Serving
from share_state.gateway.counts import Counts
from share_state.gateway.data_plane import DataPlane
from share_state.gateway.discovery import Discovery, features
from share_state.gateway.dispatch import Api, Dispatch
from share_state.gateway.group_configs import GroupConfigs
from share_state.gateway.group_descriptions import GroupDescriptions
from share_state.gateway.groups import Groups
from share_state.gateway.identity import Identity
from share_state.gateway.loading import Loading
from share_state.gateway.log_offsets import LogOffsets
from share_state.gateway.monitoring import Monitoring
from share_state.gateway.net import Net
from share_state.gateway.offsets import Offsets
from share_state.gateway.options import GatewayOptions
from share_state.gateway.ordinary_groups import OrdinaryGroups
from share_state.gateway.readings import Parts
from share_state.gateway.relay import Relay
from share_state.gateway.requests import Client
from share_state.gateway.server import Server
from share_state.gateway.stores import open_stores
from share_state.gateway.topic_configs import TopicConfigs
from share_state.gateway.topic_lookups import TopicLookups
from share_state.gateway.topic_watch import TopicWatch
from share_state.gateway.truncation import Truncation
from share_state.gateway.upstream.claim import Claim
from share_state.gateway.upstream.cluster import Upstream, UpstreamError
from share_state.gateway.upstream.readers import Readers
from share_state.gateway.upstream.topics import TopicRegistry
from share_state.kafka.client import apis
from share_state.kafka.client.peers import Address
from share_state.kafka.queued_bytes import QueuedBytes
from share_state.logs import named
from share_state.util.admission import Admission, connections_allowed
from share_state.util.closing import cancel_all
from share_state.util.extras import require
from share_state.util.tidying import ROUND_SECONDS, tidy

__all__ = ["ShareGateway", "serve_in_thread"]

_LOG: Final = logging.getLogger("share_state.gateway")
#: Newest versions that are answered, where the codec has newer ones.
_SERVED_UNTIL: Final = {apis.LIST_OFFSETS: 7, apis.DELETE_GROUPS: 2, apis.DESCRIBE_CLUSTER: 1}
#: So many calls may wait for the disk at once: writes of share partitions are one of them, heartbeats the others.
_WORKERS: Final = 16
#: Seconds between two looks at every topic that clients were told of (``metadata.max.age.ms`` is five minutes).
_REFRESH: Final = 30.0
#: Seconds after which a topic that upstream does not know any more counts as deleted (``topic.deletion.grace.ms``).
_DELETION_GRACE: Final = 300.0
#: Milliseconds without a request after which a share partition is given up.
_SILENT_PARTITION_MS: Final = 300_000
#: Seconds without any batch from upstream after which fetches are told so (``upstream.unavailable.ms``), and between two looks.
_UNAVAILABLE: Final = 10.0
_LOOK: Final = 1.0
_FETCH_MAX_BYTES: Final = 57_671_680


class ShareGateway:
    """Serves share groups over a cluster that may have none.

    Use it as an asynchronous context manager, or use :func:`serve_in_thread` without an event loop.

    Args:
        options: settings.

    Raises:
        ShareStateError: the directory is damaged, or another gateway uses it.
        MissingPackageError: metrics are requested, and their package is not installed.
    """

    def __init__(self, options: GatewayOptions) -> None:
        self.options = options
        if options.metrics is not None:
            # Before anything is opened.
            require("gateway", "prometheus_client")
        self._address: Address | None = None
        options.path.mkdir(parents=True, exist_ok=True)
        self._executor = ThreadPoolExecutor(_WORKERS, thread_name_prefix="share-state-gateway")
        self._stack = contextlib.ExitStack()
        with contextlib.ExitStack() as opened:
            opened.callback(self._executor.shutdown)
            self._store, groups = open_stores(options, opened)
            directory = options.path / "gateway"
            directory.mkdir(exist_ok=True)
            # After the locks of the stores are held: nobody else counts the generation on.
            self.identity = Identity.next(directory)
            self._registry = TopicRegistry(directory)
            self._configs = GroupConfigs(directory, options.groups, options.broker)
            self._stack = opened.pop_all()
        self._upstream = Upstream(options.upstream, options.upstream_security, self._registry)
        self._upstream.changed = self._topics_changed
        self.counts = Counts()
        self.plane = DataPlane(self._node(), self._store, self._executor, self.counts)
        self._readers = Readers(self._upstream, self._registry, self.plane, self.counts)
        self._loading = Loading(self.plane, self._store, self._executor, self._upstream, self.counts)
        self._lookups = TopicLookups(self.plane, self._upstream)
        rewinds = options.on_truncation == "rewind"
        self._readers.truncated = Truncation(self._store, self._executor, self.plane, rewinds=rewinds).begin
        self._configs.changed = self._configure
        self._net = Net(self.counts, options.limits)
        self._answers = self._net.answers
        self._watch = TopicWatch(self._upstream, groups, self._topics_in_use)
        self._relay = Relay(self._upstream, self._registry, options, counts=self.counts, net=self._net) if options.relay else None
        self._ordinary = None if self._relay is None else OrdinaryGroups(self._relay)
        stores = groups, self._store, self._executor
        self._groups = Groups(*stores, self._upstream, self.plane, net=self._net, ordinary=self._ordinary)
        self._discovery = Discovery(
            self._upstream, self.identity, options.node_id, advertised=options.advertised, relay=self._relay, net=self._net
        )
        self._claim = Claim(self._upstream, self.identity.cluster_id, alongside=options.alongside)
        self.dispatch = self._table()
        limits = options.limits
        allowed = connections_allowed(limits.connections, _LOG, descriptors=2 if options.relay else 1)
        admission = Admission(allowed, limits.address_connections, limits.principal_connections)
        self.authentication = Authentication(self.dispatch, options.users, options.tokens, admission)
        queued = QueuedBytes(options.limits.queued)
        serving = Serving(
            self.authentication.respond, self.dispatch.longest, options.limits, queued, self._answers, self.plane.taken
        )
        self.server = Server(
            serving, self.authentication.meet, self._gone, options.access, admission, ssl_context=options.ssl_context
        )
        self._monitoring = None if options.metrics is None else Monitoring(self._parts(queued))
        #: Where metrics are served, once they are.
        self.metrics_address: Address | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._deleted: asyncio.Queue[list[str]] = asyncio.Queue()

    @property
    def address(self) -> Address:
        """The address on which it listens.

        Raises:
            RuntimeError: it is not listening.
        """
        if self._address is None:
            raise RuntimeError("the gateway is not listening")
        return self._address

    @property
    def bootstrap_servers(self) -> str:
        """The address for ``bootstrap.servers`` of clients."""
        host, port = self.address
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    async def start(self) -> Address:
        """Connect to upstream, and listen.

        Raises:
            OSError: the address cannot be listened on.
            StoreError: another gateway serves this upstream, and must not (``alongside``).
        """
        for group in self._configs.names():
            self._groups.store.set_group_config(group, self._configs.of(group))
        self._configure(self._configs.names())
        self.plane.begin(
            {
                "state": self._loading.state,
                "start": self._loading.start,
                "loaded": self._loading.loaded,
                "topics": self._lookups.begin,
                "records": self._readers.want,
                "log_start": self._readers.ask_log_start,
            }
        )
        try:
            await self._upstream.topics(self._upstream.names())
        except UpstreamError as lost:
            _LOG.warning("upstream cannot be reached yet: %s", lost)
        await self._claim.take()
        if self._relay is not None:
            self._relay.is_share_group = lambda group: self._groups.store.describe(group) is not None
            self.dispatch.relay = self._relay
            self._relay.topics_changed = self._watch.look
            self.dispatch.relayed_versions = await self._relay.versions()
        self._groups.start()
        works = self._tidy(), self._refresh(), self._forget(), self._tell_silence(), self._watch.run(), self._end()
        self._tasks.update(asyncio.get_running_loop().create_task(work) for work in works)
        if self._monitoring is not None and self.options.metrics is not None:
            self.metrics_address = await self._monitoring.start(*self.options.metrics)
        self._address = await self.server.start(*self.options.listen)
        return self._address

    async def close(self) -> None:
        """Answer the requests in progress, write all pending writes, and release the directory."""
        self._address = None
        await self.server.close()
        if self._monitoring is not None:
            await self._monitoring.close()
        await cancel_all(self._tasks)
        await self._groups.close()
        await self._readers.close()
        await self._loading.close()
        await self._lookups.close()
        await self.plane.close()
        await self._claim.close()
        if self._relay is not None:
            await self._relay.close()
        await self._upstream.close()
        await asyncio.to_thread(self._stack.close)

    async def failed(self) -> None:
        """Wait for a fault of the gateway's own, after which it serves nobody and is to be closed."""
        await self.plane.failed()

    async def _end(self) -> None:
        """Serve nobody any more after a fault of ours: other gateways may, and clients that wait here would wait without end."""
        await self.plane.failed()
        self._address = None
        await self.server.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    def _node(self) -> Node:
        options = self.options
        limits = options.limits
        node = Node(
            leader_epoch=self.identity.generation,
            config=self._configs.unset(),
            frame=limits.frame,
            elements=limits.elements,
            answers=limits.answers,
            sessions=options.max_share_sessions,
            fetch_max_bytes=_FETCH_MAX_BYTES,
            rings=limits.rings,
        )
        node.set_access(*options.access.reading())
        return node

    def _configure(self, groups: Collection[str]) -> None:
        for group in groups:
            self.plane.configure(group, self._configs.resolved(group) if self._configs.set_by(group) else None)

    def _table(self) -> Dispatch:
        offsets = Offsets(
            self._groups,
            self._store,
            self._executor,
            self._upstream,
            self.plane,
            generation=self.identity.generation,
            net=self._net,
        )
        topics = TopicConfigs(self._upstream, relays=self.options.relay)
        configs = Configs(self._configs, self._groups.store, self._executor, self.options.node_id, topics, net=self._net)
        groups, discovery = self._groups, self._discovery
        descriptions = GroupDescriptions(groups, self._upstream, net=self._net, ordinary=self._ordinary)

        handlers = {
            apis.LIST_OFFSETS: LogOffsets(self._upstream, self._net).list_offsets,
            apis.METADATA: discovery.metadata,
            apis.FIND_COORDINATOR: discovery.find_coordinator,
            apis.DESCRIBE_GROUPS: descriptions.describe_classic,
            apis.LIST_GROUPS: descriptions.list_groups,
            apis.DESCRIBE_CONFIGS: configs.describe,
            apis.ALTER_CONFIGS: configs.replace,
            apis.DELETE_GROUPS: groups.delete,
            apis.INCREMENTAL_ALTER_CONFIGS: configs.alter,
            apis.DESCRIBE_CLUSTER: discovery.describe_cluster,
            apis.LIST_CONFIG_RESOURCES: configs.list_resources,
            apis.SHARE_GROUP_HEARTBEAT: groups.heartbeat,
            apis.DESCRIBE_SHARE_GROUPS: descriptions.describe,
            apis.DESCRIBE_SHARE_GROUP_OFFSETS: offsets.describe,
            apis.ALTER_SHARE_GROUP_OFFSETS: offsets.alter,
            apis.DELETE_SHARE_GROUP_OFFSETS: offsets.delete,
        }
        self._offsets = offsets
        answered = {key: Api(*apis.spoken(key, until=_SERVED_UNTIL.get(key)), handler) for key, handler in handlers.items()}
        return Dispatch(answered, self.plane.respond, features, limits=self.options.limits, counts=self.counts, net=self._net)

    def _parts(self, queued: QueuedBytes) -> Parts:
        return Parts(
            options=self.options,
            identity=self.identity,
            counts=self.counts,
            server=self.server,
            authentication=self.authentication,
            queued=queued,
            answers=self._answers,
            offsets=self._offsets,
            groups=self._groups,
            store=self._store,
            plane=self.plane,
            upstream=self._upstream,
            readers=self._readers,
        )

    def _gone(self, client: Client) -> None:
        self.plane.gone(client)
        if self._relay is not None:
            self._relay.gone(client)

    def _topics_in_use(self) -> set[str]:
        """Return the names of topics with a share partition in memory: each has a ring."""
        names = {self._registry.name_of(topic_id) for topic_id, *_ in self.plane.node.rings()}
        return {name for name in names if name is not None}

    def _topics_changed(self, gone: list[str]) -> None:
        self._groups.store.set_topics(self._upstream.view())
        self.plane.call(self.plane.node.set_topics, self._upstream.rows())
        if gone:
            self._deleted.put_nowait(gone)

    async def _forget(self) -> None:
        """Delete the states of topics that are gone."""
        while True:
            topic_ids = await self._deleted.get()
            for topic_id in topic_ids:
                self._readers.forget(topic_id)
            try:
                await self._groups.topics_deleted(topic_ids)
            except ShareStateError as failed:
                _LOG.error("states of deleted topics stay: %s: %s", failed, named(topic_ids=topic_ids))

    async def _refresh(self) -> None:
        """Check every topic periodically, also for those that were deleted, and give memory back."""
        while True:
            await asyncio.sleep(_REFRESH)
            self.plane.tell(self.plane.node.sweep, lock_ms() - _SILENT_PARTITION_MS)
            groups = {group for group, _ in self._groups.store.groups()}
            self._configs.keep(groups)
            self.plane.call(self.plane.node.keep_counts, groups)
            try:
                await self._upstream.topics(self._upstream.names())
                await self._upstream.forget_deleted(_DELETION_GRACE)
            except UpstreamError as lost:
                _LOG.warning("upstream cannot be reached: %s", lost)
            except ShareStateError as failed:
                _LOG.error("topics are not looked at: %s", failed)

    async def _tell_silence(self) -> None:
        """Have fetches told that upstream is silent; it ends with the next batches."""
        while True:
            await asyncio.sleep(_LOOK)
            for source in self._readers.silent_since(time.monotonic() - _UNAVAILABLE):
                self.plane.call(self.plane.node.upstream_lost, *source)

    async def _tidy(self) -> None:
        """Write snapshots of idle share partitions, and prune the log."""
        while True:
            await asyncio.sleep(ROUND_SECONDS)
            await asyncio.get_running_loop().run_in_executor(self._executor, tidy, self._store, _LOG.warning)


@contextlib.contextmanager
def serve_in_thread(options: GatewayOptions) -> Iterator[ShareGateway]:
    """Run a gateway on an event loop in its own thread, for programs without one.

    Raises:
        OSError: the address cannot be listened on.
        ShareStateError: the directory cannot be used.
    """
    gateway = ShareGateway(options)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="share-state-gateway", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(gateway.start(), loop).result()
        yield gateway
    finally:
        asyncio.run_coroutine_threadsafe(gateway.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
