"""A value that was accepted fits no alternative of the new payload schema, or one too many.

Why: `anyOf`, `oneOf`, `not` and `if` say what fits as a whole, so that a small change in one of them refuses
payloads that look untouched. The finding shows one.

Fix: Compare the alternatives with the payload that is shown; keep one that takes the old shape.
"""

NAME = "payload-alternatives-narrowed"
SEVERITY = "error"
SECTION = "payload-compatibility"
