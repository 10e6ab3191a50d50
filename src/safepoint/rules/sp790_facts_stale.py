"""The facts are too old, or from the future.

Why: The world moves on; an old observation says nothing about now.

Fix: Observe again, and set observedAt to when it was seen.
"""

NAME = "facts-stale"
SEVERITY = "warning"
SECTION = "guard-world"
