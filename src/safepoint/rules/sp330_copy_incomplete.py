"""A copy of a run holds less than its origin.json says that it held when it was whole.

Why: A run that is copied comes object by object. A part of it can look like a shorter run: an effect whose record has
not arrived, or was lost since, would be done again. `origin.json` is the first object of a copy that is written, and
names what all of it is.

Fix: Run the migration that made the copy again, with the same source and target: it goes on where it was interrupted.
If the copy was whole once, restore what is missing from the source or from a backup, byte for byte.
"""

NAME = "copy-incomplete"
SEVERITY = "error"
SECTION = "copies"
NEEDS = ()
ABOUT = "records"
