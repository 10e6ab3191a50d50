"""The run has no checkpoint, so it starts from its beginning.

Why: No checkpoint is another answer than an unreadable one: nothing is lost, and the ledger still
says which effects are done.

Fix: Nothing. Write a first checkpoint early if the first steps are dear.
"""

NAME = "no-checkpoint"
SEVERITY = "info"
SECTION = "guard-integrity"
