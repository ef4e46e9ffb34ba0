"""The tables on Spark, against the engine's own: marked `spark`, left out unless asked for."""
