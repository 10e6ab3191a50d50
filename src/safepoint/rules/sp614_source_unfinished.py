"""The source is a copy itself, and the migration that writes it has not finished.

Why: runs may be missing in it, or their last records. A copy of it would look whole and would not be.

Fix: Finish the first migration: give its command again. Then migrate the result.
"""

NAME = "source-unfinished"
SEVERITY = "error"
SECTION = "stores"
