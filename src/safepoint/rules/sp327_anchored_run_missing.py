"""A run that an anchor has seen is not there, and nothing accounts for it.

Why: A run that was deleted on purpose leaves a `deleted.json`, which names the heads that were there. Without one, or
with one that says something else than the anchor, the run was removed by accident or to hide it.

Fix: Restore the run from a copy. Delete runs with `safepoint prune`, which leaves the document. If the run is gone for
good, and somebody answers for that, say so with `safepoint anchor --accept REASON --by WHO`.
"""

NAME = "anchored-run-missing"
SEVERITY = "error"
SECTION = "anchors"
NEEDS = ()
ABOUT = "records"
