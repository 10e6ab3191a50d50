"""Two records claim the same sequence number with different content.

Why: Two writers both believed that they own the run, or a copy was edited. One of the two histories
is not what happened.

Fix: Find out which record the store's own journal object holds: it decides. Remove the other copy,
or keep it outside the store.
"""

NAME = "sequence-twice"
SEVERITY = "error"
SECTION = "chain"
NEEDS = ()
ABOUT = "records"
