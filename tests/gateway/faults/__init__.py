"""Promises to clients of the gateway, whatever happens to its upstream, its disk, its process, or by other clients.

:mod:`books` writes down every delivery and every confirmed acknowledgement, and refuses what must never be; :mod:`member` is
a member over a bare connection that fills them in.
"""
