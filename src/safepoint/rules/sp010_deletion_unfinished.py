"""A run was deleted, and some of its objects are still there.

``deleted.json`` in the run's folder says that the run was deleted on purpose. It is written before anything is
removed, so that whoever deletes may be interrupted at any moment. What lies beside it is not read any more.

Why: what was to be deleted is still stored, perhaps against a promise to erase it.

Fix: delete the rest: ``safepoint prune STORE --closed-before TIME --run RUN --by WHO``. Where prune refuses, because
the run went on after it was marked, look at what was added; to keep the run, remove ``deleted.json`` as long as the
journal beside it is whole.
"""

NAME = "deletion-unfinished"
SEVERITY = "warning"
SECTION = "pruning"
