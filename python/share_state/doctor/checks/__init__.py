"""One check a file: each reads the facts and yields what it finds."""
