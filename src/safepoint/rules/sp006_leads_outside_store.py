"""A name or a link leads out of the store; it was not followed.

Symbolic links may point to files of the same store. Names are relative and hold no `..`, no empty segment,
no backslash and no NUL.

Why: A store may come from anywhere. Following such a name would read, and perhaps print, files that have
nothing to do with the run.

Fix: Put the file itself where the link is, or rename it. An artifact elsewhere is named by a URI, not by a
link.
"""

NAME = "leads-outside-store"
SEVERITY = "error"
SECTION = "segments"
