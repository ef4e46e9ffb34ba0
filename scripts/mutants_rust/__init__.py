"""Mutants of the Rust crates: `make mutants`, `make mutants-sample`; see docs/test-methods.md."""
