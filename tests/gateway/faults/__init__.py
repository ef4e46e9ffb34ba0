"""What must not happen to the gateway's clients whatever happens to it: faults of its upstream, of its disk, of its process, of others.

:mod:`books` writes down every delivery and every confirmed acknowledgement, and refuses what must never be; :mod:`member` is
a member over a bare connection that fills them in.
"""
