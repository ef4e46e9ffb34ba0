"""Script of raw requests against a real broker and against a gateway; their answers are compared field by field.

* :mod:`view`: one server, as a client sees it: connections, topic ids, epochs.
* :mod:`duel`: a step is asked of both servers and the answers are compared.
* :mod:`normal`: what of an answer has to be equal.
* :mod:`known`: what may differ, each with a reason.
* :mod:`episode`: a fresh group and some hundreds of random steps on it, chosen from what both servers have answered so far,
  by the generators in :mod:`sessions`, :mod:`endings`, :mod:`acknowledging`, :mod:`members`, :mod:`admin`, :mod:`offsets`,
  :mod:`discovery` and :mod:`malformed`.

``python -m tests.gateway.differential --real HOST:PORT --other HOST:PORT [--upstream HOST:PORT] [--compared N] [--seed N]``
"""
