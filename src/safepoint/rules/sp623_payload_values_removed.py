"""The new payload schema accepts only listed values, and others were accepted.

Why: A stored payload may hold one of the others, which was right when it was written.

Fix: Keep the old values in `enum` as long as runs may hold them, or write a payload migration that replaces them.
"""

NAME = "payload-values-removed"
SEVERITY = "error"
SECTION = "payload-compatibility"
