"""An action is attempted again while an attempt of the same epoch is still open.

Why: Both may be applied. A long call is not a failed call.

Fix: Record how the first attempt ended (inDoubt, if nobody knows) before trying again.
"""

NAME = "second-open-attempt"
SEVERITY = "error"
SECTION = "ledger"
NEEDS = ("order", "whole")
ABOUT = "effects"
