"""A record without sequence lies beside numbered ones.

Why: Its place in the order of events is unknown, so it cannot be said whether it comes before or
after a checkpoint.

Fix: Append every record through the journal, or keep unnumbered records of a run in a store of
their own.
"""

NAME = "mixed-levels"
SEVERITY = "error"
SECTION = "levels"
NEEDS = ()
ABOUT = "records"
