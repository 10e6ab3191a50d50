"""Nothing caps the recoveries of a run, or a run went beyond its cap (checklist, point 9).

Why: A run that crashes at the same place each time is recovered each time, until somebody sees the
bill.

Fix: Set attemptsInLife in the policy, and have the guard judge by it before each resume. Reported as a
warning where nobody can tell.
"""

NAME = "run-without-cap"
SEVERITY = "error"
SECTION = "checklist"
