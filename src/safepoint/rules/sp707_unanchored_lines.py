"""The journal is JSON Lines only, which can lose its tail without a trace.

Why: A file cut at a line end looks whole, and no writer can win or lose a place in it. An anchor does not help: it
knows how far the journal had come then, and not what was written and lost since.

Fix: Give the journal's head as known elsewhere now in facts.heads, and proof of the owner's death in
facts.owners.
"""

NAME = "unanchored-lines"
SEVERITY = "warning"
SECTION = "guard-integrity"
