"""The run has used up its recovery attempts.

Why: The cap on a run keeps a crash loop from running for ever.

Fix: Let a human decide whether it is worth more.
"""

NAME = "attempts-spent"
SEVERITY = "error"
SECTION = "guard-budget"
