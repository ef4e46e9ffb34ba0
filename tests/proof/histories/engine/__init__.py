"""The engine on its durable store as a system: a process with threads, which is killed and goes on from its directory."""
