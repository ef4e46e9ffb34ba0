"""The engine in front of a cluster: its records, its share coordinator, our share partition."""
