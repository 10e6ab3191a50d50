"""An outcome was written by an older epoch after a newer one had been claimed; its evidence counts.

Why: The provider's answer is true whoever writes it down, but its writer had lost the run, which
should not happen often.

Fix: Nothing for this record. Look why the old worker lived on: a lease that is too short, or a
clock that is off.
"""

NAME = "late-outcome"
SEVERITY = "warning"
SECTION = "epochs"
NEEDS = ("order",)
ABOUT = "leases"
