"""Mutants of the Python network code: `make mutants-python`, `make mutants-python-sample`; see docs/test-methods.md."""
