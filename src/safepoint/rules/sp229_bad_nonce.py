"""A nonce is not 32 lower-case hex digits.

Why: The nonce tells two writers apart that race for the same number, also when the answer to a
write was lost. Short or guessable ones can collide.

Fix: Draw 128 random bits once in each process and write them in lower-case hex.
"""

NAME = "bad-nonce"
SEVERITY = "error"
SECTION = "journal-members"
