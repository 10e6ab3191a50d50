"""A ledger record says committed without any evidence, and is read as inDoubt.

Why: committed means that somebody saw it: a response, a probe or a human. Without that it is a
hope.

Fix: Store the evidence: its kind, a reference such as the provider's message id, and when it was
seen.
"""

NAME = "committed-without-evidence"
SEVERITY = "warning"
SECTION = "ledger"
NEEDS = ()
ABOUT = "effects"
