"""An effect was begun in a step behind the next one, and what the steps before it found is not saved.

Why: Those steps run again and may come out otherwise. Then the run contradicts what it did, or would send another
request under the same key.

Fix: Find out what became of the effect. Take a checkpoint before each effect, with what it is about to send; where the
request cannot come out otherwise, say so in the checkpoint, by `nextSteps` or `replaySafeActions`.
"""

NAME = "result-missing"
SEVERITY = "warning"
SECTION = "guard-compatibility"
