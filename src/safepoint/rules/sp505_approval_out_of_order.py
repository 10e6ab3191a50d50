"""An approval event that may not follow the one before, or for another content.

Why: A grant without a request, or after a rejection, is not a human's decision about what will be
executed.

Fix: Ask again with a new approvalId, naming the digest of exactly what will be executed.
"""

NAME = "approval-out-of-order"
SEVERITY = "error"
SECTION = "approvals"
NEEDS = ("whole",)
ABOUT = "approvals"
