"""The executable specification: share groups as plainly as they can be said, one entry an offset."""
