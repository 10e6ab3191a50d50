"""A run went on, and no decision is named that allowed it (checklist, point 4).

Why: A resume that nobody judged may do again what was done, under another workflow, or beside an owner
who is alive.

Fix: Ask the guard before each resume, and put the digest of its decision into the claim's authorization
and the episode's decisionDigest. Reported as a warning where nobody can tell.
"""

NAME = "resumed-unguarded"
SEVERITY = "error"
SECTION = "checklist"
