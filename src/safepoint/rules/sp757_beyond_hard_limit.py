"""The run has lain still beyond the hard limit.

Why: Keys, approvals and reservations of that age no longer hold.

Fix: Start a new run; settle what is open first.
"""

NAME = "beyond-hard-limit"
SEVERITY = "error"
SECTION = "guard-budget"
