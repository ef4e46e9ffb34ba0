"""How far the live view is behind a state topic that is written to."""
