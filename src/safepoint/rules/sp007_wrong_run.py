"""The record's `runId` is not the run in whose folder it lies.

Why: The record belongs to another run; counted in this one it would add effects that this run never had,
and hide those of the other. On a file system that ignores case, two ids that differ only in case share a
folder and end like this.

Fix: Move the record to its own run, or correct whoever wrote it. Ids of one store should differ in more
than case.
"""

NAME = "wrong-run"
SEVERITY = "error"
SECTION = "layout"
