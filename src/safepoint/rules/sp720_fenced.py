"""The caller's lease epoch is older than one that was claimed since.

Why: Another worker owns the run now; going on would make two.

Fix: Stop. Do not write, do not send.
"""

NAME = "fenced"
SEVERITY = "error"
SECTION = "guard-ownership"
