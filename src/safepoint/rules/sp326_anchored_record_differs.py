"""Another record stands where an anchor has seen one: it was edited, replaced or forged.

Why: Whoever changes a record can also recompute every digest behind it, so that the chain looks whole. The anchor,
which is kept elsewhere, remembers the digest that was there. It vouches for all records up to that one, since each
holds the digest of the one before: any of them may be the one that was changed.

Fix: Restore the run from a copy, byte for byte, and find out who wrote to it. If the change was right, and somebody
answers for it, say so with `safepoint anchor --accept REASON --by WHO`.
"""

NAME = "anchored-record-differs"
SEVERITY = "error"
SECTION = "anchors"
NEEDS = ()
ABOUT = "records"
