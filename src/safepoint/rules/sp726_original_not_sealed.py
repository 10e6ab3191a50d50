"""The run is a copy, and nothing says that its original was sealed.

Why: A copy of a journal is a second authority over the same run: a worker could go on at the original, and another one
at the copy, and both would do what comes next. A lapsed lease proves nothing here, because the original may have been
claimed again where this store cannot see it.

Fix: Seal the original with the migration that made the copy: `safepoint migrate SOURCE --output COPY --seal --by WHO`.
Where it cannot be sealed, give facts that prove its owner dead, and make sure that nobody can claim it any more: by the
same facts the original may go on as well, and the decision names in `notChecked` that it rests on them.
"""

NAME = "original-not-sealed"
SEVERITY = "info"
SECTION = "guard-ownership"
