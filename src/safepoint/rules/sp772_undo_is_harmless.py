"""The action is in doubt, and undoing it is harmless either way.

Why: The declared compensation carries the original key, does nothing where nothing happened, and uses
the key up, so that a late request cannot be applied behind it.

Fix: Run the compensation with the action's own key.
"""

NAME = "undo-is-harmless"
SEVERITY = "info"
SECTION = "guard-effects"
