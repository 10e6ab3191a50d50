"""The action is in doubt, and as many probes as the policy allows could not tell.

Why: Asking for ever is no answer; a provider that cannot say so three times rarely says it the fourth.

Fix: Find out by hand whether it was applied, and record what was found.
"""

NAME = "probes-spent"
SEVERITY = "error"
SECTION = "guard-effects"
