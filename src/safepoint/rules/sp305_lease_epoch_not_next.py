"""A lease was claimed with an epoch that is not one more than the last.

Why: Epochs are the fence. A repeated or skipped number means that two owners may hold the same one,
or that a claim was lost.

Fix: Claim exactly the last epoch + 1, in the record right behind the head that the decision names.
"""

NAME = "lease-epoch-not-next"
SEVERITY = "error"
SECTION = "epochs"
NEEDS = ("order", "whole")
ABOUT = "leases"
