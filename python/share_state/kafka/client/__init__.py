"""Client of Kafka clusters on asyncio: the one that everything here uses that asks a cluster."""
