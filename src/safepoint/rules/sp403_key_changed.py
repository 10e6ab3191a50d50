"""An action's idempotency key differs between its records.

Why: With another key the provider takes the retry for a new request, and applies it a second time.

Fix: Fix the key when the action is planned, and repeat it on every record of that action, over
attempts, recoveries and forks.
"""

NAME = "key-changed"
SEVERITY = "error"
SECTION = "ledger"
NEEDS = ()
ABOUT = "effects"
