"""The anchors contradict each other: one is missing, was changed, or takes back what another has said.

Why: Anchors are a chain, in which each says what is new since the one before. With one of them gone nobody knows what
it said; with one changed nobody knows what else was. A store can then be rolled back without a trace.

Fix: Restore the anchors from a copy, byte for byte, and keep them where the store's writers cannot write. If that
cannot be done, look into the store and begin a new place with `safepoint anchor`; keep the old one.
"""

NAME = "anchor-chain-broken"
SEVERITY = "error"
SECTION = "anchors"
NEEDS = ()
ABOUT = "records"
