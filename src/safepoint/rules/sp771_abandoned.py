"""A human gave up finding out what became of the action.

Why: Not knowing was accepted; whether the run may go on all the same is another question.

Fix: Decide it, or allow it with abandonedMaySkip in the policy.
"""

NAME = "abandoned"
SEVERITY = "warning"
SECTION = "guard-effects"
