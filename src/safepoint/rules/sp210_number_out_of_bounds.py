"""A number is smaller or greater than the format allows.

Why: Counters begin at 0 or 1, durations are not negative, and integers beyond 2^53-1 are not kept
exactly by every reader.

Fix: Write a number within the bounds in the message, in the unit that the member's name says.
"""

NAME = "number-out-of-bounds"
SEVERITY = "error"
SECTION = "numbers"
