"""Mutants of the Rust crates: `make mutants`; see docs/test-methods.md."""
