"""The original of a copied run was not sealed, although that was asked for; the message says why.

Why: a run has one authority. A seal ends that of the original behind the very record that the copy ends with; it is
refused while somebody may still be at work on the original, where the original went on after it was copied, or where
its records are damaged. Until it is sealed the guard lets the copy go on only with proof that the old owner is dead.

Fix: Stop the worker, or wait until its lease has lapsed, and give the same command again. A stale copy is made anew,
at a new place. A damaged journal is for a human: look with safepoint validate.
"""

NAME = "seal-refused"
SEVERITY = "error"
SECTION = "stores"
