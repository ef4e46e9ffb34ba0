"""Tests of share_state that are run as a package (``python -m tests.proof.conformance``)."""
