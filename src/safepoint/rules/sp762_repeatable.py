"""The action may be repeated without harm.

Why: It only reads, or is declared naturally idempotent and no older attempt can land any more.

Fix: Run it again.
"""

NAME = "repeatable"
SEVERITY = "info"
SECTION = "guard-effects"
