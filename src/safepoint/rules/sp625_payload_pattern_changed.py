"""The new payload schema has a pattern that texts accepted so far do not fit.

Why: Stored texts were never tried against the new pattern.

Fix: Let the new pattern take the old form too, for example with `|`, or write a payload migration that rewrites
the texts.
"""

NAME = "payload-pattern-changed"
SEVERITY = "error"
SECTION = "payload-compatibility"
