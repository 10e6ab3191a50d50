"""The run has ended or was asked to stop, but effects are still open.

Why: An effect in doubt does not become settled because the run is over.

Fix: Settle each open effect with the evidence that the decision names.
"""

NAME = "ended-with-open-effects"
SEVERITY = "error"
SECTION = "guard-terminal"
