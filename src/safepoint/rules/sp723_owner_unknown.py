"""No lease says who owns the run, and no fact proves its worker dead.

Why: Without a lease there is nothing that could lapse.

Fix: Give facts.owners with state dead and the proof, such as the exit status that its parent saw.
"""

NAME = "owner-unknown"
SEVERITY = "warning"
SECTION = "guard-ownership"
