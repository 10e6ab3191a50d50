"""Nothing tells whether an action may be repeated (checklist, point 5).

Why: After a crash what is in doubt is repeated, looked up or handed to a human, by what its tool
declares. What declares nothing always ends at a human.

Fix: Have each tool declare effect, idempotency, probe and reversibility on the action's first record,
or list it under actions in the policy. Reported as a warning where nobody can tell.
"""

NAME = "replay-not-told"
SEVERITY = "error"
SECTION = "checklist"
