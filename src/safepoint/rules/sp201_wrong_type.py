"""A member has a value of another JSON type than the format gives it.

Why: Every reader relies on the type: a number in quotes compares as text, and a false where null
was meant states something that nobody knows.

Fix: Write the type that the message asks for. Write null for what is not known, where the field
table allows it.
"""

NAME = "wrong-type"
SEVERITY = "error"
SECTION = "null-and-absent"
