"""A record lies in a log, or under a name, that is not for its kind.

Objects under `journal`, `recovery` and `heartbeat`, the files `journal.jsonl` and `recovery.jsonl`, and
`safepoint.json` each hold their own kinds.

Why: Each log is read for its own kinds, and has its own numbers and chain. A record in another one is in no order, so
that nobody can rely on it, and what it says may be missing where it belongs.

Fix: Find out who wrote it there. Write the record again where it belongs, at the end of its log, and remove
this object.
"""

NAME = "wrong-log"
SEVERITY = "error"
SECTION = "layout"
