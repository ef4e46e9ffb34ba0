"""Answers to operators over HTTP: metrics in Prometheus' form, and the health of the server."""
