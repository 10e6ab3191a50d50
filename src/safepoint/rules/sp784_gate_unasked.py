"""The run stands at a human gate, and nobody was asked.

Why: The checkpoint says that a human must decide, and no request is recorded.

Fix: Ask.
"""

NAME = "gate-unasked"
SEVERITY = "info"
SECTION = "guard-world"
