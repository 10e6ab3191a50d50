"""A seal.json does not belong to this copy, so that it does not count.

Why: A seal says that the run's original has given its authority away, behind the very record up to which it was copied.
A seal for another head is one for another copy: what the original did in between is not here, and the copy would do it
again. A seal without an origin.json speaks of a copy that nobody knows.

Fix: Restore both documents as the migration wrote them. If the original went on after it was copied, copy it again to a
new place, and seal it there.
"""

NAME = "seal-of-another-copy"
SEVERITY = "error"
SECTION = "copies"
NEEDS = ()
ABOUT = "records"
