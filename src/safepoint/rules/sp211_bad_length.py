"""A text or a list has fewer or more entries than the format allows.

Why: An empty text says nothing that absence would not say better; very long ones make small records
slow to read for everybody.

Fix: Shorten the text, or put it into an artifact and refer to that. Leave out what is empty.
"""

NAME = "bad-length"
SEVERITY = "error"
SECTION = "texts"
