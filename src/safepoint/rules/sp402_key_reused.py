"""One idempotency key names two different requests.

Why: A provider that honours the key drops the second request without a word: the ledger would call
done what never happened.

Fix: Derive the key from the action and its meaning, never from a counter that starts again; a new
request is a new action with a new key.
"""

NAME = "key-reused"
SEVERITY = "error"
SECTION = "ledger"
NEEDS = ()
ABOUT = "effects"
