"""A line of a JSON Lines file is blank.

Why: Each line should hold one record. A blank line holds none and is passed over, but it shifts line
numbers, and it may be all that is left of a record that was to be there.

Fix: Remove the line in a copy. If a program adds it, it writes a line feed before and after each record:
one behind each is right.
"""

NAME = "blank-line"
SEVERITY = "warning"
SECTION = "strict-json"
