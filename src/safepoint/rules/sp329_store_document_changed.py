"""The store's safepoint.json is not the one that an anchor has seen.

Why: It says which layout and which features the store relies on. A store that loses a demand in it is read by tools
that do not understand it.

Fix: Restore it from a copy. If it was changed on purpose, and somebody answers for that, say so with
`safepoint anchor --accept REASON --by WHO`.
"""

NAME = "store-document-changed"
SEVERITY = "error"
SECTION = "anchors"
NEEDS = ()
ABOUT = "records"
