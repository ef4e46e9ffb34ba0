"""Runner of recorded Kafka share-group cases against share_state.

The recordings say what Kafka's own classes did: inputs, results, payloads and the state after every
operation. ``python -m tests.proof.conformance PATH...`` replays them through the Python API on one or both
in-flight stores, with writes that are polled and with a persister that answers within the call, and compares what can be
seen from outside.
"""
