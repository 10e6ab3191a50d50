"""The action failed without being applied, and may be tried again.

Why: The failure is recorded as certain and retryable.

Fix: Run it again with the same key.
"""

NAME = "may-retry"
SEVERITY = "info"
SECTION = "guard-effects"
