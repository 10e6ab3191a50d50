"""A digest is not sha256: followed by 64 lower-case hex digits.

Why: Digests are compared as text. Upper case or another algorithm would make equal contents look
different.

Fix: Compute SHA-256, write it in lower-case hex, and put sha256: in front.
"""

NAME = "bad-digest"
SEVERITY = "error"
SECTION = "digests"
