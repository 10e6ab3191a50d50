"""The action is in doubt, and is sent again with the same key.

Why: Inside its window the provider applies a key at most once.

Fix: Send the same request with the same key before sendBefore.
"""

NAME = "key-honoured"
SEVERITY = "info"
SECTION = "guard-effects"
