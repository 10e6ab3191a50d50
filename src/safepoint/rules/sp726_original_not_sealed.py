"""The run is a copy, and nothing says that its original was sealed.

Why: A copy of a journal is a second authority over the same run: a worker could go on at the original, and another one
at the copy, and both would do what comes next. A lapsed lease proves nothing here, because the original may have been
claimed again where this store cannot see it.

Fix: Seal the original with the migration that made the copy: `safepoint migrate SOURCE TARGET --seal`. Where the
original is gone, give facts that prove that its owner is dead, and make sure that nobody can claim it any more.
"""

NAME = "original-not-sealed"
SEVERITY = "info"
SECTION = "guard-ownership"
