"""Recorded input of the extension, mutated: it answers, or raises what it documents.

Bytes that decoders take are fuzzed in ``rust/proof/fuzz`` too; here they pass the boundary, and so do what only Python can give:
objects and columns of numbers. ``python -m tests.proof.mutations SEED COUNT`` plays all cases and prints what came of them.
"""
