"""Real Kafka beside share_state: its published classes as a judge, and brokers to talk to.

``make kafka`` fetches it (:mod:`.home`); :mod:`.broker` starts brokers; :mod:`.differential` compares with Kafka's own
classes. The tests here are the marked group ``kafka``.
"""
