"""A v1 or v2 ledger record has a status that is none of the words that are understood.

Why: Those versions let a status be any word. One that nobody knows may stand for a send, so the guard and a migration
read it as inDoubt: a misspelt "comitted" makes an effect that is proven look like one that may be missing.

Fix: Correct the word; the message names the nearest one, or all. Where the word is your own, write the one that means
the same, such as attempting before the send and committed after it.
"""

NAME = "unknown-status-old"
SEVERITY = "warning"
SECTION = "the-ledger-record"
