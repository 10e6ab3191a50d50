"""A part of the guard context moved, and the policy only warns.

Why: The policy says that this part does not matter enough to stop for.

Fix: Nothing, or set the part to block.
"""

NAME = "context-moved-warned"
SEVERITY = "warning"
SECTION = "guard-compatibility"
