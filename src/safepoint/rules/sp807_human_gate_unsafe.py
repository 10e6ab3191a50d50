"""A question to a human cannot be gone on from, or may be passed or asked twice (checklist, point 7).

Why: A yes that is bound to nothing, never ends or is spent twice allows what nobody agreed to; and who
is asked twice for one thing stops reading.

Fix: Take a checkpoint, then ask for exactly what will be executed, with an expiry; spend the answer
once, and use it after a restart. Reported as a warning where nobody can tell.
"""

NAME = "human-gate-unsafe"
SEVERITY = "error"
SECTION = "checklist"
