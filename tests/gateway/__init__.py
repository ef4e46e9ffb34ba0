"""The lab of the gateway: upstreams, clients, tools, suites and a differential, each beside a real broker with share groups."""
