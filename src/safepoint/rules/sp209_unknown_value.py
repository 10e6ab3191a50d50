"""A member has a value that is none of those that the format lists for it.

Why: Each listed value has a meaning that readers and the guard act on. An unknown one would have to
be guessed.

Fix: Use one of the values in the message. Values of your own belong under an x- name.
"""

NAME = "unknown-value"
SEVERITY = "error"
SECTION = "records"
