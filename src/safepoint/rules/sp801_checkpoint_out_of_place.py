"""A checkpoint is missing where it pays, or was taken where it does not (checklist, point 1).

Why: A run goes on from its newest checkpoint: what was not saved before an effect, after it, or before
a wait for a human is done again. One after a short pure step costs more than it saves.

Fix: Take a checkpoint before and after each effect that is not a read, and before a human is asked;
take none after short pure steps. Reported as a warning where nobody can tell, such as from records
without numbers.
"""

NAME = "checkpoint-out-of-place"
SEVERITY = "error"
SECTION = "checklist"
