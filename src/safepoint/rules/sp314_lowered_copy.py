"""A record was lowered from a journal's record, and no longer has its place there.

Why: Journal, leases and approvals do not fit into an older version, so that a lowered copy says less than
its original. A run is judged by its journal, never by such a copy.

Fix: Judge the original store. Use the lowered copy for readers of the old version only.
"""

NAME = "lowered-copy"
SEVERITY = "warning"
SECTION = "levels"
NEEDS = ()
ABOUT = "records"
