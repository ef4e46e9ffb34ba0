"""Checks, each in a file: each reads the facts and yields what it finds."""
