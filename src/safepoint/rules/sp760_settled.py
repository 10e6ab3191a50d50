"""The action is settled and is skipped; its recorded result is used.

Why: The ledger proves that it was done (or taken back, or withdrawn).

Fix: Nothing: inject the recorded result.
"""

NAME = "settled"
SEVERITY = "info"
SECTION = "guard-effects"
