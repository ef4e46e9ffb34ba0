"""Runner of recorded Kafka share-group cases against share_state.

The recordings say what Kafka's own classes did: inputs, results, payloads and the state after every operation.
``python -m tests.proof.conformance PATH...`` has the judge play those of share partitions, share coordinators and share sessions,
replays the others through the Python API, and compares what can be seen from outside.
"""
