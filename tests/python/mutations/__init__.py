"""Recorded input of the extension, mutated: it answers, or raises what it documents.

The bytes that decoders take are fuzzed in ``rust/fuzz`` too; here they pass the boundary, and so do what only Python can give:
objects and columns of numbers. ``python -m tests.python.mutations SEED COUNT`` plays all cases and prints what came of them.
"""
