"""The action was never attempted, or the step comes next.

Why: The attempt record is written before the send, so no attempt means that nothing was sent.

Fix: Run it.
"""

NAME = "not-yet-run"
SEVERITY = "info"
SECTION = "guard-effects"
