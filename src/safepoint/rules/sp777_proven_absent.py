"""It is proven that the effect did not happen and will not.

Why: A strongly consistent probe after the last possible arrival found nothing, and every writer is
dead.

Fix: Run it.
"""

NAME = "proven-absent"
SEVERITY = "info"
SECTION = "guard-effects"
