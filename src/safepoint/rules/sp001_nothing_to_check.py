"""An argument names nothing that could be checked.

The path or URL does not exist, the folder is empty, or the pattern matches no file.

Why: A check of nothing that reports success is worse than none: a misspelt path in CI would stay green for
ever.

Fix: Correct the path. Quote patterns, so that the shell does not expand them first. If the folder may be
empty at this point, do not run the check there.
"""

NAME = "nothing-to-check"
SEVERITY = "error"
SECTION = "inputs"
