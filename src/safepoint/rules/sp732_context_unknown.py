"""No fact says what a part of the guard context is now.

Why: What cannot be compared cannot be called equal.

Fix: Give the part's present digest in facts.guardContext.
"""

NAME = "context-unknown"
SEVERITY = "warning"
SECTION = "guard-compatibility"
