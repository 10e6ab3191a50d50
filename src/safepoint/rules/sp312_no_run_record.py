"""The journal does not begin with a run record.

Why: Without it the workflow, the input and the definition of the run are not known, and workflow
settings of a policy do not apply.

Fix: Write a run record with status started as sequence 1.
"""

NAME = "no-run-record"
SEVERITY = "warning"
SECTION = "chain"
