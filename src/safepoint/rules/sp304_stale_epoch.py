"""A record was written under an older lease epoch after a newer one had been claimed.

Why: A worker that was thought dead went on writing. What it did in the world meanwhile is not
covered by the newer owner's decisions.

Fix: Let writers append only by put-if-absent at the number after the last record that they read,
and stop when they lose. For this run: a human compares the late records with the providers.
"""

NAME = "stale-epoch"
SEVERITY = "error"
SECTION = "epochs"
NEEDS = ("order",)
ABOUT = "leases"
