"""A v3 record has a member that v3 does not know.

Why: Nearly always it is a misspelt name, and a reader that skipped it would lose what was meant,
such as an idempotency key.

Fix: Correct the name; the message names the nearest one. A member of your own begins with x-, in
lower case.
"""

NAME = "unknown-member"
SEVERITY = "error"
SECTION = "unknown-members"
