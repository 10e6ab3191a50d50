"""The action's key can no longer be relied on.

Why: Behind the window, or without a declared one, the provider takes the same key for a new
request.

Fix: Find out at the provider whether it was applied; a re-send is a new action that a human
decides.
"""

NAME = "key-lapsed"
SEVERITY = "error"
SECTION = "guard-effects"
