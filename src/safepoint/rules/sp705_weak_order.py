"""Records without sequence cannot prove that no effect is missing.

Why: Nothing links them, so a record that was never written, or was lost, leaves no trace.

Fix: Let somebody who knows say so in facts.ledgerComplete, or write a journal.
"""

NAME = "weak-order"
SEVERITY = "warning"
SECTION = "levels"
