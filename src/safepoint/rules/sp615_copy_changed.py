"""A copy that was finished does not hold what a migration of the source would write there now.

Why: either the source went on after it was copied, and the copy is stale, or the copy was changed or damaged. Nothing
is written into a copy that was finished: its runs may have gone on there.

Fix: Find out which of the two changed. Where the source went on, stop its writers and migrate to a new place; where the
copy lost something, name an empty place and migrate again.
"""

NAME = "copy-changed"
SEVERITY = "error"
SECTION = "stores"
