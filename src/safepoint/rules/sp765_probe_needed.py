"""The action is in doubt, and a probe can tell.

Why: The worker died between the send and the record of its outcome.

Fix: Ask the provider, and give the answer in facts.probes.
"""

NAME = "probe-needed"
SEVERITY = "warning"
SECTION = "guard-effects"
