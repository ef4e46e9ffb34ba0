"""The cluster with the records: its topics, and what is read of them."""
