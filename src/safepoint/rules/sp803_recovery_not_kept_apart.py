"""Recoveries leave no record of their own (checklist, point 3).

Why: Where a recovery is only a run that goes on, nobody can count attempts, see what each began from,
or tell whether the step failed or the recovery did.

Fix: Claim the run by a lease, and keep an episode for each recovery in the recovery log, to its
outcome; resume_run of the recorder does both. Reported as a warning where nobody can tell.
"""

NAME = "recovery-not-kept-apart"
SEVERITY = "error"
SECTION = "checklist"
