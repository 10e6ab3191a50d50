"""The run was recorded as failed, and is judged like an interrupted one.

Why: A failed run may be taken up again; its ledger still counts.

Fix: Nothing.
"""

NAME = "failed-run"
SEVERITY = "info"
SECTION = "guard-terminal"
