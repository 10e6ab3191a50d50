"""External data moved, and the policy runs the reads again.

Why: What was read before the crash may no longer be true.

Fix: Nothing; the plan runs the reads again.
"""

NAME = "external-moved-rerun"
SEVERITY = "warning"
SECTION = "guard-world"
