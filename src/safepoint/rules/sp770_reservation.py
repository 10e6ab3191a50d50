"""The provider holds, or held, a reservation for the action.

Why: A reservation is neither done nor undone.

Fix: Confirm it, give it back, or reserve again, as the plan says.
"""

NAME = "reservation"
SEVERITY = "info"
SECTION = "guard-effects"
