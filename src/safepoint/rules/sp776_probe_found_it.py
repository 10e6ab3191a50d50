"""A probe found that the effect was applied.

Why: Positive evidence always suffices.

Fix: Record the evidence, and use the result.
"""

NAME = "probe-found-it"
SEVERITY = "info"
SECTION = "guard-effects"
