"""The project has set no budget, no cooldown or no breaker for recovery (checklist, point 8).

Why: Defaults keep a run from looping for ever; what a recovery may cost, and when a whole workflow
should pause, only the project knows.

Fix: Set attemptsWithoutProgress (or runBudgetCostMicros), cooldownSeconds and breaker in the policy,
and name it with --policy. Reported as a warning where no policy was named.
"""

NAME = "limits-not-set"
SEVERITY = "error"
SECTION = "checklist"
